import { Button, Stack, Text, Title } from '@mantine/core';
import { EmptyState, ErrorState, RelativeTime, Skeletons } from '@sparkroom/ui';
import { IconBriefcase } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { trpc } from '../api/client.ts';
import { troubleOf } from '../api/trouble.ts';
import cards from '../ideas/idea-card.module.css';
import { IdeaCard } from '../ideas/idea-card.tsx';
import lists from '../ideas/ideas-tab.module.css';
import { PageHeading } from '../shell/page-heading.tsx';
import classes from './work-page.module.css';

const SHOWN = 50;

/** Ideas and guidance I wrote, in every workspace. */
export function WorkPage() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(trpc.me.contributions.queryOptions({ limit: SHOWN }));
  return (
    <Stack gap="lg" className={classes.page}>
      <PageHeading title={t('work.title')}>{t('work.title')}</PageHeading>
      {!data ? (
        error ? (
          <ErrorState trouble={troubleOf(error)} onRetry={() => void refetch()} />
        ) : (
          <Skeletons count={4} height={8} />
        )
      ) : data.ideas.length + data.guidance.length === 0 ? (
        <EmptyState
          icon={<IconBriefcase />}
          text={t('work.empty')}
          action={
            <Button component={Link} to="/new">
              {t('nav.newIdea')}
            </Button>
          }
        />
      ) : (
        <>
          <section>
            <Title order={2} mb="sm">
              {t('work.ideas')}
            </Title>
            {data.ideas.length === 0 ? <Text c="dimmed">{t('work.noIdeas')}</Text> : null}
            <ul className={lists.list}>
              {data.ideas.map((idea) => (
                <li key={idea.id}>
                  <IdeaCard idea={idea} workspaceName={idea.workspaceName} />
                </li>
              ))}
            </ul>
          </section>
          <section>
            <Title order={2} mb="sm">
              {t('work.guidance')}
            </Title>
            {data.guidance.length === 0 ? <Text c="dimmed">{t('work.noGuidance')}</Text> : null}
            <ul className={lists.list}>
              {data.guidance.map((guidance) => (
                <li key={guidance.id} className={cards.card}>
                  <h3 className={cards.title}>
                    <Link to={`/w/${guidance.workspaceId}/guidance/${guidance.id}`}>{guidance.title}</Link>
                  </h3>
                  <Text className={cards.excerpt} lineClamp={2}>
                    {guidance.excerpt}
                  </Text>
                  <Text size="sm" c="dimmed" mt="xs">
                    <RelativeTime at={guidance.updatedAt} /> · {guidance.workspaceName}
                  </Text>
                </li>
              ))}
            </ul>
          </section>
        </>
      )}
    </Stack>
  );
}
