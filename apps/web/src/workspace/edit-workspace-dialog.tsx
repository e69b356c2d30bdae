import { Alert, Button, Group, Modal, Stack, Textarea, TextInput } from '@mantine/core';
import type { Workspace } from '@sparkroom/contract';
import { troubleText } from '@sparkroom/ui';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type RefObject, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client, queryClient, trpc } from '../api/client.ts';
import { troubleOf } from '../api/trouble.ts';
import { notifyDone } from '../shell/notify.ts';
import { returnFocus } from '../shell/return-focus.ts';

interface Props {
  workspace: Workspace;
  onClose: () => void;
}

function EditForm({ workspace, onClose }: Props) {
  const { t } = useTranslation();
  const [name, setName] = useState(workspace.name);
  const [description, setDescription] = useState(workspace.description);
  const save = useMutation({
    mutationFn: () =>
      client.workspaces.update.mutate({ id: workspace.id, version: workspace.version, name, description }),
    onSuccess: () => {
      notifyDone(t('common.saved'));
      onClose();
    },
    // After a conflict the dialog stays with what was typed; the next attempt is made upon the new version.
    onSettled: () => queryClient.invalidateQueries({ queryKey: trpc.workspaces.pathKey() }),
  });
  const length = [...name.trim()].length;
  const refused = save.error ? troubleText(t, troubleOf(save.error)) : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (length > 0 && length <= 120) save.mutate();
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        {refused ? (
          <Alert color="red" role="alert" title={refused.title}>
            {refused.text}
          </Alert>
        ) : null}
        <TextInput
          data-autofocus
          label={t('workspace.name')}
          required
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={length === 0 || length > 120 ? t('workspace.needName') : null}
        />
        <Textarea
          label={t('workspace.description')}
          autosize
          minRows={3}
          maxLength={2000}
          value={description}
          onChange={(event) => setDescription(event.currentTarget.value)}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {t('common.cancel')}
          </Button>
          <Button type="submit" loading={save.isPending}>
            {t('common.save')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** Renames a workspace and says what it is about. */
export function EditWorkspaceDialog({
  opened,
  from,
  ...props
}: Props & { opened: boolean; from: RefObject<HTMLElement | null> }) {
  const { t } = useTranslation();
  return (
    <Modal
      opened={opened}
      onClose={props.onClose}
      onExitTransitionEnd={returnFocus(from)}
      title={t('workspace.edit')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <EditForm {...props} />
    </Modal>
  );
}
