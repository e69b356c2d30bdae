import { Text, Title } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { RelativeTime } from '@sparkroom/ui';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { trpc } from '../api/client.ts';
import classes from './activity-panel.module.css';
import { activityKey } from './activity-text.ts';

const SHOWN = 15;

/** What happened lately, beside the work where there is room for it. It refreshes like a counter. */
export function ActivityPanel({ workspaceId }: { workspaceId: string }) {
  const { t } = useTranslation();
  const wide = useMediaQuery('(min-width: 75em)', undefined, { getInitialValueInEffect: false });
  const { data } = useQuery(
    trpc.activity.list.queryOptions({ workspaceId, limit: SHOWN }, { enabled: wide === true }),
  );
  if (!wide) return null;
  return (
    <aside aria-labelledby="activity-title">
      <Title order={2} size="h4" id="activity-title" mb="sm">
        {t('workspace.activity')}
      </Title>
      {data?.items.length === 0 ? <Text c="dimmed">{t('workspace.noActivity')}</Text> : null}
      <ul className={classes.list}>
        {data?.items.map(({ id, type, at, actor, subject }) => (
          <li key={id}>
            <div>
              <b>{actor?.name ?? t('activity.somebody')}</b> {t(`activity.${activityKey(type)}`)}{' '}
              {subject.title === null ? null : subject.type === 'idea' ? (
                <Link to={`/ideas/${subject.id}`}>{subject.title}</Link>
              ) : (
                subject.title
              )}
            </div>
            <Text size="xs" c="dimmed">
              <RelativeTime at={at} />
            </Text>
          </li>
        ))}
      </ul>
    </aside>
  );
}
