import { Anchor, Badge, Button, Group, Stack, Text, Title } from '@mantine/core';
import type { WorkspaceSummary } from '@sparkroom/contract';
import { EmptyState, ErrorState, Skeletons } from '@sparkroom/ui';
import { IconDoor, IconPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link, useSearchParams } from 'react-router';
import { troubleOf } from '../api/trouble.ts';
import { useMyWorkspaces } from '../api/use-pages.ts';
import { PageHeading } from '../shell/page-heading.tsx';
import { byClient } from '../workspace/by-client.ts';
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

/** My workspaces under their clients. */
export function HomePage() {
  const { t } = useTranslation();
  const [query, setQuery] = useSearchParams();
  const archived = query.has('archived');
  const { workspaces, error, isPending, refetch } = useMyWorkspaces(archived);
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
      ) : isPending ? (
        <Skeletons height={5} />
      ) : workspaces.length === 0 ? (
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
        byClient(workspaces).map((client) => (
          <section key={client.id} aria-labelledby={`client-${client.id}`}>
            <Title order={2} size="h3" mb="sm" id={`client-${client.id}`}>
              {client.name}
            </Title>
            <ul className={classes.grid}>
              {client.workspaces.map((workspace) => (
                <WorkspaceCard key={workspace.id} workspace={workspace} />
              ))}
            </ul>
          </section>
        ))
      )}
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
