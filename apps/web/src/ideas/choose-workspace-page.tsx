import { Button, Container, Stack, Title } from '@mantine/core';
import { EmptyState, ErrorState, Skeletons } from '@sparkroom/ui';
import { IconDoor } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { troubleOf } from '../api/trouble.ts';
import { useMyWorkspaces } from '../api/use-pages.ts';
import { PageHeading } from '../shell/page-heading.tsx';
import { byClient } from '../workspace/by-client.ts';

/** A new idea from outside any workspace: first choose where it belongs. */
export function ChooseWorkspacePage() {
  const { t } = useTranslation();
  const { workspaces, error, isPending, refetch } = useMyWorkspaces();
  const open = workspaces.filter((w) => w.mayPost);
  return (
    <Container size="sm" mx={0} p={0}>
      <PageHeading title={t('idea.post')}>{t('idea.chooseWorkspace')}</PageHeading>
      <Stack mt="md">
        {error ? (
          <ErrorState trouble={troubleOf(error)} onRetry={() => void refetch()} />
        ) : isPending ? (
          <Skeletons height={3} />
        ) : open.length === 0 ? (
          <EmptyState
            icon={<IconDoor />}
            text={t('idea.noWorkspace')}
            action={
              <Button component={Link} to="/workspaces/new">
                {t('home.emptyAction')}
              </Button>
            }
          />
        ) : (
          byClient(open).map((client) => (
            <section key={client.id}>
              <Title order={2} size="h4" mb="xs">
                {client.name}
              </Title>
              <Stack gap="xs" align="stretch">
                {client.workspaces.map((workspace) => (
                  <Button
                    key={workspace.id}
                    component={Link}
                    to={`/w/${workspace.id}/new`}
                    variant="default"
                    justify="flex-start"
                    size="md"
                  >
                    {workspace.name}
                  </Button>
                ))}
              </Stack>
            </section>
          ))
        )}
      </Stack>
    </Container>
  );
}
