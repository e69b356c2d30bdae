import { Anchor, Badge, Button, Group, Stack, Text, Title } from '@mantine/core';
import type { WorkspaceSummary } from '@sparkroom/contract';
import { EmptyState, ErrorState, Skeletons } from '@sparkroom/ui';
import { IconDoor, IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import { troubleOf } from '../api/trouble.ts';
import { useClientsOf, useMyWorkspaces } from '../api/use-pages.ts';
import { ClientMenu } from '../clients/client-menu.tsx';
import { PageHeading } from '../shell/page-heading.tsx';
import { type HomeGroup, homeGroups } from './home-groups.ts';
import classes from './home-page.module.css';

function WorkspaceCard({ workspace }: { workspace: WorkspaceSummary }) {
  const { t } = useTranslation();
  return (
    <li className={classes.card}>
      <Link className={classes.link} to={`/w/${workspace.id}`}>
        {workspace.name}
      </Link>
      <Group gap="xs" mt="xs">
        <Text size="sm" c="dimmed">
          {t('home.ideas', { count: workspace.ideaCount })} ·{' '}
          {t('home.members', { count: workspace.memberCount })}
        </Text>
        <Badge variant="default" tt="none" fw="normal">
          {t(`role.${workspace.role}`)}
        </Badge>
      </Group>
    </li>
  );
}

function ClientSection({ group }: { group: HomeGroup }) {
  const { t } = useTranslation();
  return (
    <section aria-labelledby={`client-${group.id}`}>
      <Group gap="xs" wrap="nowrap" mb="xs" className={classes.head}>
        <Title order={2} size="h3" id={`client-${group.id}`} className={classes.client}>
          {group.name}
        </Title>
        {group.client ? <ClientMenu client={group.client} /> : null}
      </Group>
      {group.workspaces.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t(group.client?.archivedAt ? 'client.isArchived' : 'client.empty')}
        </Text>
      ) : (
        <ul className={classes.grid}>
          {group.workspaces.map((workspace) => (
            <WorkspaceCard key={workspace.id} workspace={workspace} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** My workspaces under their clients; a page of its own for what is archived. */
export function HomePage() {
  const { t } = useTranslation();
  const [query, setQuery] = useSearchParams();
  const archived = query.has('archived');
  const { workspaces, error, isPending, refetch } = useMyWorkspaces(archived);
  const mine = useClientsOf(workspaces, archived);
  const groups = homeGroups(workspaces, mine.clients);
  return (
    <Stack gap="lg" className={classes.page}>
      <Group justify="space-between">
        <PageHeading title={t('home.title')}>{t('home.title')}</PageHeading>
        <Button
          component={Link}
          to="/workspaces/new"
          variant="default"
          leftSection={<IconPlus size="1.125rem" />}
        >
          {t('nav.newWorkspace')}
        </Button>
      </Group>
      {error && workspaces.length === 0 ? (
        <ErrorState trouble={troubleOf(error)} onRetry={() => void refetch()} />
      ) : isPending || (groups.length === 0 && mine.isPending) ? (
        <Skeletons height={5} />
      ) : groups.length === 0 ? (
        archived ? (
          <Text>{t('home.noArchived')}</Text>
        ) : (
          <EmptyState
            icon={<IconDoor />}
            text={t('home.empty')}
            action={
              <Button component={Link} to="/workspaces/new">
                {t('home.emptyAction')}
              </Button>
            }
          />
        )
      ) : (
        groups.map((group) => <ClientSection key={group.id} group={group} />)
      )}
      {mine.hasNextPage ? (
        <Group>
          <Button
            variant="default"
            loading={mine.isFetchingNextPage}
            onClick={() => void mine.fetchNextPage()}
          >
            {t('client.loadMore')}
          </Button>
        </Group>
      ) : null}
      <Anchor
        component="button"
        type="button"
        size="sm"
        ta="left"
        underline="always"
        onClick={() => setQuery(archived ? {} : { archived: '1' })}
      >
        {archived ? t('home.hideArchived') : t('home.showArchived')}
      </Anchor>
    </Stack>
  );
}
