import { Button, Group, Text } from '@mantine/core';
import type { RankedIdea } from '@sparkroom/contract';
import { Coverage, EmptyState, ErrorState, ScoreAxis, ScoreBar, Skeletons, StatusBadge } from '@sparkroom/ui';
import { IconTrophy } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { queryClient, trpc } from '../api/client.ts';
import { troubleOf } from '../api/trouble.ts';
import { flat } from '../api/use-pages.ts';
import { NewsBar } from '../ideas/news-bar.tsx';
import { useLive } from '../live/live-provider.tsx';
import { PageHeading } from '../shell/page-heading.tsx';
import { useWorkspace } from '../workspace/use-workspace.ts';
import { type Band, bands } from './bands.ts';
import classes from './ranking-tab.module.css';
import { tableRoles } from './table-roles.ts';

const PAGE = 50;
const COLUMNS = 5;

function Row({ idea }: { idea: RankedIdea }) {
  const { t } = useTranslation();
  return (
    <tr {...tableRoles.row}>
      <td {...tableRoles.cell} className={classes.rank}>
        {idea.rank}
      </td>
      <th {...tableRoles.rowHeader} className={classes.idea}>
        <Link to={`/ideas/${idea.id}`}>{idea.title}</Link>
        <span className={classes.by}>
          <Text span size="sm" c="dimmed">
            {idea.author.name}
          </Text>
          <StatusBadge status={idea.status} />
        </span>
      </th>
      <td {...tableRoles.cell} className={classes.score}>
        <ScoreBar score={idea.score} />
      </td>
      <td {...tableRoles.cell} className={classes.coverage}>
        <Coverage score={idea.score} />
      </td>
      <td {...tableRoles.cell} className={classes.mine}>
        {idea.myRating ??
          (idea.mayRate ? <Link to={`/ideas/${idea.id}`}>{t('ranking.rateLink')}</Link> : '–')}
      </td>
    </tr>
  );
}

/** Ideas of one band; more than one means that the order among them is not to be trusted, and a bracket says so. */
function BandRows({ band }: { band: Band<RankedIdea> }) {
  const { t } = useTranslation();
  const close = band.ideas.length > 1;
  return (
    <tbody {...tableRoles.group} className={classes.band} data-close={close || undefined}>
      {close ? (
        <tr {...tableRoles.row} className={classes.closeRow}>
          <th {...tableRoles.groupHeader} colSpan={COLUMNS}>
            {t('ranking.close')}
          </th>
        </tr>
      ) : null}
      {band.ideas.map((idea) => (
        <Row key={idea.id} idea={idea} />
      ))}
    </tbody>
  );
}

/** Ideas best first, with how sure that is. */
export function RankingTab() {
  const { t } = useTranslation();
  const workspace = useWorkspace();
  const { news, seen } = useLive();
  const ranking = useInfiniteQuery(
    trpc.ideas.ranking.infiniteQueryOptions(
      { workspaceId: workspace.id, limit: PAGE },
      { getNextPageParam: (page) => page.nextCursor, refetchOnMount: 'always' },
    ),
  );
  const ideas = flat(ranking.data);
  const total = ranking.data?.pages[0]?.total ?? 0;
  const show = () => {
    seen({ ranking: false });
    void queryClient.invalidateQueries({ queryKey: trpc.ideas.ranking.pathKey() });
  };
  return (
    <section>
      <NewsBar text={news.ranking && ideas.length > 0 ? t('ranking.changed') : ''} onShow={show} />
      <PageHeading title={`${t('ranking.title')} · ${workspace.name}`}>
        <span className={classes.heading}>{t('ranking.title')}</span>
      </PageHeading>
      {ranking.error && ideas.length === 0 ? (
        <ErrorState trouble={troubleOf(ranking.error)} onRetry={() => void ranking.refetch()} />
      ) : ranking.isPending ? (
        <Skeletons count={6} height={3} />
      ) : ideas.length === 0 ? (
        <EmptyState
          icon={<IconTrophy />}
          text={t('ranking.empty')}
          action={
            <Button component={Link} to={`/w/${workspace.id}`} variant="default">
              {t('ranking.emptyAction')}
            </Button>
          }
        />
      ) : (
        <>
          <Text size="sm" c="dimmed" className={classes.explain}>
            {t('ranking.explain')}
          </Text>
          <table {...tableRoles.table} aria-label={t('ranking.title')} className={classes.table}>
            <thead {...tableRoles.group}>
              <tr {...tableRoles.row}>
                <th {...tableRoles.columnHeader} className={classes.rank}>
                  {t('ranking.rank')}
                </th>
                <th {...tableRoles.columnHeader}>{t('ranking.idea')}</th>
                <th {...tableRoles.columnHeader} className={classes.score}>
                  {t('ranking.score')}
                  <ScoreAxis />
                </th>
                <th {...tableRoles.columnHeader} className={classes.coverage}>
                  {t('ranking.coverage')}
                </th>
                <th {...tableRoles.columnHeader} className={classes.mine}>
                  {t('ranking.mine')}
                </th>
              </tr>
            </thead>
            {bands(ideas).map((band) => (
              <BandRows key={band.band} band={band} />
            ))}
          </table>
          <Group justify="space-between" mt="md">
            <Text size="sm" c="dimmed">
              {t('ranking.total', { count: total })}
            </Text>
            {ranking.hasNextPage ? (
              <Button
                variant="default"
                loading={ranking.isFetchingNextPage}
                onClick={() => void ranking.fetchNextPage()}
              >
                {t('common.loadMore')}
              </Button>
            ) : null}
          </Group>
        </>
      )}
    </section>
  );
}
