import { Alert, Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import type { Client } from '@sparkroom/contract';
import { troubleText } from '@sparkroom/ui';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type RefObject, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client as api } from '../api/client.ts';
import { troubleOf } from '../api/trouble.ts';
import { notifyDone } from '../shell/notify.ts';
import { returnFocus } from '../shell/return-focus.ts';
import { refreshClients } from './refresh-clients.ts';

interface Props {
  client: Client;
  onClose: () => void;
}

function RenameForm({ client, onClose }: Props) {
  const { t } = useTranslation();
  const [name, setName] = useState(client.name);
  const save = useMutation({
    mutationFn: () => api.clients.update.mutate({ id: client.id, version: client.version, name }),
    onSuccess: () => {
      notifyDone(t('common.saved'));
      onClose();
    },
    // After a conflict the dialog stays with what was typed; the next attempt is made upon the new version.
    onSettled: refreshClients,
  });
  const length = [...name.trim()].length;
  const nameOk = length > 0 && length <= 120;
  const refused = save.error ? troubleText(t, troubleOf(save.error)) : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (nameOk) save.mutate();
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
          label={t('workspace.clientName')}
          description={t('client.renameHint')}
          required
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={nameOk ? null : t('workspace.needName')}
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

/** Gives a client another name. */
export function RenameClientDialog({
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
      title={t('client.rename')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <RenameForm {...props} />
    </Modal>
  );
}
