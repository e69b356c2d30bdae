import { Button, Group, Text } from '@mantine/core';
import { EmptyState, ErrorState, Face, RelativeTime, Skeletons } from '@sparkroom/ui';
import { IconCompass } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { queryClient, trpc } from '../api/client.ts';
import { troubleOf } from '../api/trouble.ts';
import { flat } from '../api/use-pages.ts';
import cards from '../ideas/idea-card.module.css';
import lists from '../ideas/ideas-tab.module.css';
import { NewsBar } from '../ideas/news-bar.tsx';
import { useLive } from '../live/live-provider.tsx';
import { PageHeading } from '../shell/page-heading.tsx';
import { useWorkspace } from '../workspace/use-workspace.ts';

/** Guidance of a workspace, newest first. */
export function GuidanceTab() {
  const { t } = useTranslation();
  const workspace = useWorkspace();
  const { news, seen } = useLive();
  const list = useInfiniteQuery(
    trpc.guidance.list.infiniteQueryOptions(
      { workspaceId: workspace.id },
      { getNextPageParam: (page) => page.nextCursor },
    ),
  );
  const items = flat(list.data);
  const write = workspace.may.writeGuidance ? (
    <Button component={Link} to={`/w/${workspace.id}/guidance/new`}>
      {items.length === 0 ? t('guidance.emptyAction') : t('guidance.create')}
    </Button>
  ) : null;
  return (
    <section>
      <NewsBar
        text={news.guidance ? t('guidance.changed') : ''}
        onShow={() => {
          seen({ guidance: false });
          void queryClient.invalidateQueries({ queryKey: trpc.guidance.pathKey() });
        }}
      />
      <Group justify="space-between" mb="md">
        <PageHeading title={`${t('guidance.title')} · ${workspace.name}`}>
          <span className={lists.heading}>{t('guidance.title')}</span>
        </PageHeading>
        {items.length > 0 ? write : null}
      </Group>
      {list.error && items.length === 0 ? (
        <ErrorState trouble={troubleOf(list.error)} onRetry={() => void list.refetch()} />
      ) : list.isPending ? (
        <Skeletons />
      ) : items.length === 0 ? (
        <EmptyState
          icon={<IconCompass />}
          text={write ? t('guidance.empty') : t('guidance.emptyReader')}
          action={write}
        />
      ) : (
        <ul className={lists.list}>
          {items.map((item) => (
            <li key={item.id} className={cards.card}>
              <h2 className={cards.title}>
                <Link to={`/w/${workspace.id}/guidance/${item.id}`}>{item.title}</Link>
              </h2>
              <Text className={cards.excerpt} lineClamp={2}>
                {item.excerpt}
              </Text>
              <Group gap="xs" mt="sm">
                <Face name={item.author.name} small />
                <Text size="sm">{item.author.name}</Text>
                <Text size="sm" c="dimmed">
                  <RelativeTime at={item.updatedAt} />
                </Text>
              </Group>
            </li>
          ))}
        </ul>
      )}
      {list.hasNextPage ? (
        <Button
          mt="md"
          variant="default"
          loading={list.isFetchingNextPage}
          onClick={() => void list.fetchNextPage()}
        >
          {t('common.loadMore')}
        </Button>
      ) : null}
    </section>
  );
}
