import { Button, Group, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { EmptyState, ErrorState, Skeletons } from '@sparkroom/ui';
import { IconBulb, IconPencilPlus } from '@tabler/icons-react';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import { queryClient, trpc } from '../api/client.ts';
import { troubleOf } from '../api/trouble.ts';
import { flat } from '../api/use-pages.ts';
import { useLive } from '../live/live-provider.tsx';
import { PageHeading } from '../shell/page-heading.tsx';
import { useWorkspace } from '../workspace/use-workspace.ts';
import { IdeaCard } from './idea-card.tsx';
import classes from './ideas-tab.module.css';
import { type ListView, readView, STATUSES, writeView } from './list-view.ts';
import { NewsBar } from './news-bar.tsx';

const PAGE = 20;

/** What others did to the list, until it is shown. */
function IdeaNews() {
  const { t } = useTranslation();
  const { news, seen } = useLive();
  const show = () => {
    seen({ newIdeas: new Set(), changedIdeas: new Set() });
    void queryClient.invalidateQueries({ queryKey: trpc.ideas.pathKey() });
  };
  const parts: string[] = [];
  if (news.newIdeas.size > 0) parts.push(t('ideas.new', { count: news.newIdeas.size }));
  if (news.changedIdeas.size > 0) parts.push(t('ideas.changed', { count: news.changedIdeas.size }));
  return <NewsBar text={parts.join(' · ')} onShow={show} />;
}

/** Ideas of a workspace: sorted, filtered, page by page. */
export function IdeasTab() {
  const { t } = useTranslation();
  const workspace = useWorkspace();
  const { news, seen } = useLive();
  const [query, setQuery] = useSearchParams();
  const view = readView(query);
  const show = (change: Partial<ListView>) =>
    setQuery(writeView({ ...view, ...change }), { replace: true, preventScrollReset: true });
  const list = useInfiniteQuery(
    trpc.ideas.list.infiniteQueryOptions(
      {
        workspaceId: workspace.id,
        sort: view.sort,
        filter: view.filter,
        ...(view.status ? { status: [view.status] } : {}),
        limit: PAGE,
      },
      { getNextPageParam: (page) => page.nextCursor, placeholderData: keepPreviousData },
    ),
  );
  const ideas = flat(list.data);

  // News from before this list was opened: nobody reads it yet, so they enter at once.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the list opens
  useEffect(() => {
    if (news.newIdeas.size + news.changedIdeas.size === 0) return;
    seen({ newIdeas: new Set(), changedIdeas: new Set() });
    void queryClient.invalidateQueries({ queryKey: trpc.ideas.list.pathKey() });
  }, []);

  const post = workspace.may.post ? (
    <Button component={Link} to={`/w/${workspace.id}/new`} leftSection={<IconPencilPlus size="1.125rem" />}>
      {workspace.ideaCount === 0 ? t('ideas.emptyAction') : t('nav.newIdea')}
    </Button>
  ) : null;
  const filtered = view.filter !== 'all' || view.status !== null;
  const empty = filtered ? (
    <EmptyState
      text={view.filter === 'unrated' ? t('ideas.emptyUnrated') : t('ideas.emptyFilter')}
      action={
        <Button variant="default" onClick={() => show({ filter: 'all', status: null })}>
          {t('ideas.clearFilter')}
        </Button>
      }
    />
  ) : (
    <EmptyState
      icon={<IconBulb />}
      text={workspace.may.post ? t('ideas.empty') : t('ideas.emptyViewer')}
      action={post}
    />
  );

  return (
    <section>
      <IdeaNews />
      <Group justify="space-between" mb="md">
        <PageHeading title={`${t('ideas.title')} · ${workspace.name}`}>
          <span className={classes.heading}>{t('ideas.title')}</span>
        </PageHeading>
        {workspace.ideaCount > 0 ? post : null}
      </Group>
      <div className={classes.tools}>
        <SegmentedControl
          aria-label={t('ideas.filter')}
          value={view.filter}
          onChange={(value) => show({ filter: value as ListView['filter'] })}
          data={[
            { value: 'all', label: t('ideas.filterAll') },
            { value: 'unrated', label: t('ideas.filterUnrated') },
            { value: 'mine', label: t('ideas.filterMine') },
          ]}
        />
        <Select
          aria-label={t('ideas.statusFilter')}
          value={view.status ?? 'any'}
          onChange={(value) => show({ status: STATUSES.find((s) => s === value) ?? null })}
          data={[
            { value: 'any', label: t('ideas.anyStatus') },
            ...STATUSES.map((status) => ({ value: status, label: t(`status.${status}`) })),
          ]}
        />
        <Select
          aria-label={t('ideas.sort')}
          value={view.sort}
          onChange={(value) => show({ sort: (value ?? 'newest') as ListView['sort'] })}
          data={[
            { value: 'newest', label: t('ideas.sortNewest') },
            { value: 'oldest', label: t('ideas.sortOldest') },
            { value: 'active', label: t('ideas.sortActive') },
            { value: 'title', label: t('ideas.sortTitle') },
          ]}
        />
      </div>
      {list.error && ideas.length === 0 ? (
        <ErrorState trouble={troubleOf(list.error)} onRetry={() => void list.refetch()} />
      ) : list.isPending ? (
        <Skeletons count={4} height={8} />
      ) : ideas.length === 0 ? (
        empty
      ) : (
        <Stack>
          <ul className={classes.list} aria-busy={list.isPlaceholderData}>
            {ideas.map((idea) => (
              <li key={idea.id}>
                <IdeaCard idea={idea} />
              </li>
            ))}
          </ul>
          {list.error ? (
            <ErrorState trouble={troubleOf(list.error)} onRetry={() => void list.fetchNextPage()} />
          ) : null}
          <Group justify="space-between">
            <Text size="sm" c="dimmed" role="status">
              {t('ideas.loaded', { count: ideas.length })}
            </Text>
            {list.hasNextPage && !list.error ? (
              <Button
                variant="default"
                loading={list.isFetchingNextPage}
                onClick={() => void list.fetchNextPage()}
              >
                {t('ideas.more')}
              </Button>
            ) : null}
          </Group>
        </Stack>
      )}
    </section>
  );
}
