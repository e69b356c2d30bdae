import { ActionIcon, Menu } from '@mantine/core';
import type { Client } from '@sparkroom/contract';
import { IconArchive, IconArchiveOff, IconDots, IconPencil } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client as api } from '../api/client.ts';
import { ConfirmDialog } from '../shell/confirm-dialog.tsx';
import { notifyDone, notifyError } from '../shell/notify.ts';
import { focusHeading } from '../shell/page-heading.tsx';
import { refreshClients } from './refresh-clients.ts';
import { RenameClientDialog } from './rename-client-dialog.tsx';

/** What may be done with a client by those who may change it. */
export function ClientMenu({ client }: { client: Client }) {
  const { t } = useTranslation();
  const button = useRef<HTMLButtonElement>(null);
  const [renaming, setRenaming] = useState(false);
  const [archiving, setArchiving] = useState(false);
  const archive = useMutation({
    mutationFn: (archived: boolean) =>
      api.clients.archive.mutate({ id: client.id, version: client.version, archived }),
    onSuccess: async (_, archived) => {
      setArchiving(false);
      notifyDone(t(archived ? 'client.archivedNote' : 'client.unarchivedNote', { name: client.name }));
      await refreshClients();
      // The client has left this list, and its button with it.
      focusHeading();
    },
    onError: (error) => {
      setArchiving(false);
      notifyError(error);
      void refreshClients();
    },
  });
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon
            ref={button}
            variant="subtle"
            color="gray"
            size="lg"
            aria-label={t('client.more', { name: client.name })}
          >
            <IconDots size="1.125rem" />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size="1rem" />} onClick={() => setRenaming(true)}>
            {t('client.rename')}
          </Menu.Item>
          {client.archivedAt === null ? (
            <Menu.Item leftSection={<IconArchive size="1rem" />} onClick={() => setArchiving(true)}>
              {t('client.archive')}
            </Menu.Item>
          ) : (
            <Menu.Item leftSection={<IconArchiveOff size="1rem" />} onClick={() => archive.mutate(false)}>
              {t('client.unarchive')}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <RenameClientDialog
        client={client}
        opened={renaming}
        onClose={() => setRenaming(false)}
        from={button}
      />
      <ConfirmDialog
        opened={archiving}
        from={button}
        onClose={() => setArchiving(false)}
        onConfirm={() => archive.mutate(true)}
        busy={archive.isPending}
        title={t('client.archiveTitle', { name: client.name })}
        text={t('client.archiveText')}
        confirm={t('client.archive')}
      />
    </>
  );
}
