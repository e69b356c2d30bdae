import { Alert, Anchor, Button, Group, Stack, Text, Title } from '@mantine/core';
import { reasonOf } from '@sparkroom/client';
import type { Idea } from '@sparkroom/contract';
import {
  Coverage,
  Face,
  PlainText,
  RelativeTime,
  ScoreBar,
  Skeletons,
  StarRating,
  StatusBadge,
} from '@sparkroom/ui';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link, useParams, useSearchParams } from 'react-router';
import { queryClient, trpc } from '../api/client.ts';
import { useLive, useOpenWorkspace } from '../live/live-provider.tsx';
import { useMe } from '../session/me.tsx';
import { focusHeading, PageHeading } from '../shell/page-heading.tsx';
import { PageTrouble } from '../shell/page-trouble.tsx';
import { useShortcut } from '../shell/use-shortcut.ts';
import { useWorkspaceQuery } from '../workspace/use-workspace.ts';
import { EditIdea } from './edit-idea.tsx';
import classes from './idea-page.module.css';
import { maySeeScore } from './may-see-score.ts';
import { NewsBar } from './news-bar.tsx';
import { StatusSteps } from './status-steps.tsx';
import { useRate } from './use-rate.ts';

const STAR_KEYS = ['1', '2', '3', '4', '5'];

function RatePanel({ idea }: { idea: Idea }) {
  const { t } = useTranslation();
  const me = useMe();
  const { rate, clear } = useRate(idea);
  const own = idea.author.id === me.id;
  useShortcut(idea.mayRate ? STAR_KEYS : [], (key) => rate(Number(key)));
  const seesScore = maySeeScore(idea, me.id);
  return (
    <section className={classes.panel} aria-label={t('idea.yourRating')}>
      <div>
        <Title order={2} size="h4" mb="xs">
          {t('idea.yourRating')}
        </Title>
        {idea.mayRate ? (
          <StarRating large value={idea.myRating} onRate={rate} onClear={clear} title={idea.title} />
        ) : idea.myRating !== null ? (
          <StarRating value={idea.myRating} title={idea.title} />
        ) : (
          <Text c="dimmed">{t('idea.notRateable')}</Text>
        )}
        {own && idea.mayRate ? (
          <Text size="sm" c="dimmed">
            {t('idea.ownRating')}
          </Text>
        ) : null}
      </div>
      <div>
        <Title order={2} size="h4" mb="xs">
          {t('idea.scoreTitle')}
        </Title>
        {seesScore ? (
          <Stack gap={0}>
            <ScoreBar score={idea.score} />
            <Coverage score={idea.score} />
            <Text c="dimmed" size="xs" mt="xs">
              {t('idea.scoreHint')}
            </Text>
          </Stack>
        ) : (
          <Text c="dimmed">{t('idea.rateFirst')}</Text>
        )}
      </div>
    </section>
  );
}

/** Says that somebody else changed what is being read. */
function ChangedByOther({ idea }: { idea: Idea }) {
  const { t } = useTranslation();
  const { news, seen } = useLive();
  const show = () => {
    const rest = new Set(news.changedIdeas);
    rest.delete(idea.id);
    seen({ changedIdeas: rest });
    void queryClient.invalidateQueries({ queryKey: trpc.ideas.pathKey() });
  };
  return (
    <NewsBar
      text={news.changedIdeas.has(idea.id) ? t('idea.changedByOther') : ''}
      action={t('idea.showChange')}
      onShow={show}
    />
  );
}

function ReadIdea({ idea, onEdit }: { idea: Idea; onEdit: () => void }) {
  const { t } = useTranslation();
  return (
    <div className={classes.columns}>
      <article className={classes.article}>
        <PlainText text={idea.body.text} />
        {idea.tags.length > 0 ? (
          <ul className={classes.tags} aria-label={t('idea.tags')}>
            {idea.tags.map((tag) => (
              <li key={tag}>{tag}</li>
            ))}
          </ul>
        ) : null}
        {idea.status === 'draft' ? null : <RatePanel idea={idea} />}
      </article>
      <aside className={classes.side} aria-label={t('idea.details')}>
        <dl>
          <dt>{t('idea.posted')}</dt>
          <dd>
            <RelativeTime at={idea.createdAt} />
          </dd>
          <dt>{t('idea.lastChange')}</dt>
          <dd>
            <RelativeTime at={idea.updatedAt} /> ·{' '}
            <Anchor component={Link} to={`/ideas/${idea.id}/history`} size="sm" underline="always">
              {t('idea.version', { version: idea.version })}
            </Anchor>
          </dd>
        </dl>
        {idea.may.edit ? (
          <Button variant="default" onClick={onEdit}>
            {t('idea.edit')}
          </Button>
        ) : null}
      </aside>
    </div>
  );
}

/** One idea: read, rate, edit, move on. */
export function IdeaPage() {
  const { t } = useTranslation();
  const { ideaId = '' } = useParams();
  const [query, setQuery] = useSearchParams();
  const { data: idea, error, refetch } = useQuery(trpc.ideas.get.queryOptions({ id: ideaId }));
  const workspace = useWorkspaceQuery(idea?.workspaceId ?? '');
  useOpenWorkspace(idea?.workspaceId);
  if (!idea || reasonOf(error) === 'NOT_FOUND') {
    return error ? (
      <PageTrouble error={error} onRetry={() => void refetch()} />
    ) : (
      <Skeletons count={2} height={10} />
    );
  }
  const editing = query.has('edit') && idea.may.edit;
  const edit = (on: boolean) => {
    setQuery(on ? { edit: '1' } : {}, { replace: true });
    if (!on) setTimeout(focusHeading);
  };
  return (
    <div className={classes.page}>
      <Anchor component={Link} to={`/w/${idea.workspaceId}`} size="sm">
        {workspace.data ? t('idea.back', { name: workspace.data.name }) : t('common.back')}
      </Anchor>
      {editing ? null : <ChangedByOther idea={idea} />}
      <div className={classes.head}>
        <div className={classes.titles}>
          <PageHeading title={idea.title}>{editing ? t('idea.edit') : idea.title}</PageHeading>
          <Group gap="xs" mt="xs">
            <Face name={idea.author.name} small />
            <Text size="sm">{idea.author.name}</Text>
            <StatusBadge status={idea.status} />
          </Group>
        </div>
        {editing ? null : <StatusSteps idea={idea} onEdit={() => edit(true)} />}
      </div>
      {idea.statusReason ? <Alert>{t('idea.reason', { reason: idea.statusReason })}</Alert> : null}
      {editing ? (
        <EditIdea key={idea.id} idea={idea} onDone={() => edit(false)} />
      ) : (
        <ReadIdea idea={idea} onEdit={() => edit(true)} />
      )}
    </div>
  );
}
