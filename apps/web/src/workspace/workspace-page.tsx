import { ActionIcon, Alert, Group, Menu, Text } from '@mantine/core';
import { reasonOf } from '@sparkroom/client';
import type { Workspace } from '@sparkroom/contract';
import { Faces, Skeletons } from '@sparkroom/ui';
import { IconArchive, IconArchiveOff, IconDots, IconPencil } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { NavLink, Outlet, useParams } from 'react-router';
import { client, queryClient, trpc } from '../api/client.ts';
import { useMembers } from '../api/use-pages.ts';
import { useOpenWorkspace } from '../live/live-provider.tsx';
import { ConfirmDialog } from '../shell/confirm-dialog.tsx';
import { notifyDone, notifyError } from '../shell/notify.ts';
import { PageTrouble } from '../shell/page-trouble.tsx';
import { ActivityPanel } from './activity-panel.tsx';
import { EditWorkspaceDialog } from './edit-workspace-dialog.tsx';
import { useWorkspaceQuery } from './use-workspace.ts';
import classes from './workspace-page.module.css';

function Pulse({ workspace }: { workspace: Workspace }) {
  const { t } = useTranslation();
  const { rateable, rated, toRate, decided } = workspace.pulse;
  return (
    <ul className={classes.pulse}>
      {rateable > 0 ? <li>{t('workspace.pulseRated', { rated, total: rateable })}</li> : null}
      {workspace.may.rate && rateable > 0 ? (
        <li>{toRate > 0 ? t('workspace.pulseToRate', { count: toRate }) : t('workspace.pulseDone')}</li>
      ) : null}
      {decided > 0 ? <li>{t('workspace.pulseDecided', { count: decided })}</li> : null}
    </ul>
  );
}

function WorkspaceMenu({ workspace }: { workspace: Workspace }) {
  const { t } = useTranslation();
  const button = useRef<HTMLButtonElement>(null);
  const [editing, setEditing] = useState(false);
  const [archiving, setArchiving] = useState(false);
  const archive = useMutation({
    mutationFn: (archived: boolean) =>
      client.workspaces.archive.mutate({ id: workspace.id, version: workspace.version, archived }),
    onSuccess: () => notifyDone(t('common.saved')),
    onError: notifyError,
    onSettled: () => {
      setArchiving(false);
      return queryClient.invalidateQueries({ queryKey: trpc.workspaces.pathKey() });
    },
  });
  if (!workspace.may.edit && !workspace.may.archive) return null;
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon ref={button} variant="default" size="lg" aria-label={t('common.more')}>
            <IconDots size="1.125rem" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {workspace.may.edit ? (
            <Menu.Item leftSection={<IconPencil size="1rem" />} onClick={() => setEditing(true)}>
              {t('workspace.edit')}
            </Menu.Item>
          ) : null}
          {workspace.may.archive && workspace.archivedAt === null ? (
            <Menu.Item leftSection={<IconArchive size="1rem" />} onClick={() => setArchiving(true)}>
              {t('workspace.archive')}
            </Menu.Item>
          ) : null}
          {workspace.may.archive && workspace.archivedAt !== null ? (
            <Menu.Item leftSection={<IconArchiveOff size="1rem" />} onClick={() => archive.mutate(false)}>
              {t('workspace.unarchive')}
            </Menu.Item>
          ) : null}
        </Menu.Dropdown>
      </Menu>
      <EditWorkspaceDialog
        workspace={workspace}
        opened={editing}
        onClose={() => setEditing(false)}
        from={button}
      />
      <ConfirmDialog
        opened={archiving}
        from={button}
        onClose={() => setArchiving(false)}
        onConfirm={() => archive.mutate(true)}
        busy={archive.isPending}
        title={t('workspace.archiveTitle')}
        text={t('workspace.archiveText')}
        confirm={t('workspace.archive')}
      />
    </>
  );
}

function Header({ workspace }: { workspace: Workspace }) {
  const { t } = useTranslation();
  const { members } = useMembers(workspace.id);
  const base = `/w/${workspace.id}`;
  return (
    <header>
      <Group justify="space-between" align="flex-start" wrap="nowrap" gap="md">
        <div>
          <Text c="dimmed">{workspace.client.name}</Text>
          <p className={classes.name}>{workspace.name}</p>
        </div>
        <Group gap="sm" wrap="nowrap">
          <div className={classes.faces}>
            <Faces
              people={members.map((m) => ({ id: m.userId, name: m.name }))}
              total={workspace.memberCount}
            />
          </div>
          <WorkspaceMenu workspace={workspace} />
        </Group>
      </Group>
      {workspace.description ? (
        <Text mt="xs" className={classes.description}>
          {workspace.description}
        </Text>
      ) : null}
      <Group gap="md" mt="sm">
        <Text size="sm" fw={600}>
          {t(`role.${workspace.role}`)}
        </Text>
        <Pulse workspace={workspace} />
      </Group>
      {workspace.archivedAt ? <Alert mt="md">{t('workspace.archivedNote')}</Alert> : null}
      <nav aria-label={t('workspace.tabs')} className={classes.tabs}>
        <NavLink end to={base}>
          {t('workspace.ideas')}
        </NavLink>
        <NavLink to={`${base}/ranking`}>{t('workspace.ranking')}</NavLink>
        <NavLink to={`${base}/guidance`}>{t('workspace.guidance')}</NavLink>
        <NavLink to={`${base}/members`}>{t('workspace.members')}</NavLink>
      </nav>
    </header>
  );
}

/** A workspace: header, tabs, and on wide screens what happened lately. */
export function WorkspacePage() {
  const { workspaceId = '' } = useParams();
  const { data: workspace, error, refetch } = useWorkspaceQuery(workspaceId);
  useOpenWorkspace(workspace?.id);
  if (!workspace || reasonOf(error) === 'NOT_FOUND') {
    return error ? <PageTrouble error={error} onRetry={() => void refetch()} /> : <Skeletons count={4} />;
  }
  return (
    <div className={classes.page}>
      <div className={classes.work}>
        <Header workspace={workspace} />
        <Outlet context={workspace} key={workspace.id} />
      </div>
      <ActivityPanel workspaceId={workspace.id} />
    </div>
  );
}
