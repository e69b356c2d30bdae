import { ActionIcon, Button, Group, Menu, Textarea } from '@mantine/core';
import type { Idea, IdeaStatus } from '@sparkroom/contract';
import { IconDots, IconHistory, IconPencil, IconTrash } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate } from 'react-router';
import { client, queryClient, trpc } from '../api/client.ts';
import { ConfirmDialog } from '../shell/confirm-dialog.tsx';
import { notifyDone, notifyError } from '../shell/notify.ts';
import { focusHeading } from '../shell/page-heading.tsx';
import { steps } from './next-step.ts';

const MOST_REASON = 1000;

function refresh(): void {
  void queryClient.invalidateQueries({ queryKey: trpc.ideas.list.pathKey() });
  void queryClient.invalidateQueries({ queryKey: trpc.ideas.ranking.pathKey() });
  void queryClient.invalidateQueries({ queryKey: trpc.ideas.history.pathKey() });
  void queryClient.invalidateQueries({ queryKey: trpc.workspaces.pathKey() });
  void queryClient.invalidateQueries({ queryKey: trpc.me.contributions.pathKey() });
}

/** One clear next step, and a menu with everything else that may be done with the idea. */
export function StatusSteps({ idea, onEdit }: { idea: Idea; onEdit: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const button = useRef<HTMLButtonElement>(null);
  const [asking, setAsking] = useState<'declined' | 'archived' | 'remove' | null>(null);
  const [reason, setReason] = useState('');
  const [checked, setChecked] = useState(false);
  const { next, others } = steps(idea.status, idea.may.setStatus);
  const key = trpc.ideas.get.queryKey({ id: idea.id });

  const set = useMutation({
    mutationFn: ({ status, why }: { status: IdeaStatus; why?: string }) =>
      client.ideas.setStatus.mutate({
        id: idea.id,
        version: idea.version,
        status,
        ...(why ? { reason: why } : {}),
      }),
    onSuccess: (stored) => {
      queryClient.setQueryData(key, stored);
      notifyDone(t('step.done', { status: t(`status.${stored.status}`) }));
      refresh();
    },
    onError: (error) => {
      notifyError(error);
      void queryClient.invalidateQueries({ queryKey: key });
    },
    onSettled: () => {
      setAsking(null);
      focusHeading();
    },
  });
  const remove = useMutation({
    mutationFn: () => client.ideas.remove.mutate({ id: idea.id, version: idea.version }),
    onSuccess: async () => {
      await navigate(`/w/${idea.workspaceId}`);
      queryClient.removeQueries({ queryKey: key });
      notifyDone(t('idea.removed'));
      refresh();
    },
    onError: (error) => {
      setAsking(null);
      notifyError(error);
      void queryClient.invalidateQueries({ queryKey: key });
    },
  });
  const why = reason.trim();
  const reasonOk = why !== '' && [...why].length <= MOST_REASON;
  const label = (status: IdeaStatus) =>
    status === 'open' && idea.status !== 'draft' ? t('step.reopen') : t(`step.${status}`);
  const choose = (status: IdeaStatus) => {
    if (status === 'declined' || status === 'archived') setAsking(status);
    else set.mutate({ status });
  };
  const decline = () => {
    setChecked(true);
    if (reasonOk) set.mutate({ status: 'declined', why });
  };

  return (
    <Group gap="xs" wrap="nowrap">
      {next ? (
        <Button loading={set.isPending} onClick={() => choose(next)}>
          {label(next)}
        </Button>
      ) : null}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon ref={button} variant="default" size="lg" aria-label={t('common.more')}>
            <IconDots size="1.125rem" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {idea.may.edit ? (
            <Menu.Item leftSection={<IconPencil size="1rem" />} onClick={onEdit}>
              {t('common.edit')}
            </Menu.Item>
          ) : null}
          <Menu.Item
            leftSection={<IconHistory size="1rem" />}
            component={Link}
            to={`/ideas/${idea.id}/history`}
          >
            {t('idea.history')}
          </Menu.Item>
          {others.map((status) => (
            <Menu.Item key={status} onClick={() => choose(status)}>
              {label(status)}
            </Menu.Item>
          ))}
          {idea.may.remove ? (
            <Menu.Item leftSection={<IconTrash size="1rem" />} onClick={() => setAsking('remove')}>
              {t('common.remove')}
            </Menu.Item>
          ) : null}
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        from={button}
        opened={asking === 'declined'}
        onClose={() => setAsking(null)}
        onConfirm={decline}
        busy={set.isPending}
        title={t('step.declineTitle')}
        text={t('step.declineText')}
        confirm={t('step.declined')}
      >
        <Textarea
          data-autofocus
          label={t('step.declineReason')}
          required
          autosize
          minRows={3}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
          error={checked && !reasonOk ? t('step.needReason') : null}
        />
      </ConfirmDialog>
      <ConfirmDialog
        from={button}
        opened={asking === 'archived'}
        onClose={() => setAsking(null)}
        onConfirm={() => set.mutate({ status: 'archived' })}
        busy={set.isPending}
        title={t('step.archiveTitle')}
        text={t('step.archiveText')}
        confirm={t('step.archived')}
      />
      <ConfirmDialog
        from={button}
        opened={asking === 'remove'}
        onClose={() => setAsking(null)}
        onConfirm={() => remove.mutate()}
        busy={remove.isPending}
        danger
        title={t('idea.removeTitle')}
        text={t('idea.removeText')}
        confirm={t('common.remove')}
      />
    </Group>
  );
}
