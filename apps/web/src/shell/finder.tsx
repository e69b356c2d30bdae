import { Modal, Text, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { type KeyboardEvent, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useMyWorkspaces } from '../api/use-pages.ts';
import classes from './finder.module.css';

const MOST = 8;

function Find({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { workspaces } = useMyWorkspaces();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const listId = useId();
  const wanted = text.trim().toLowerCase();
  const found = workspaces
    .filter((w) => `${w.name} ${w.client.name}`.toLowerCase().includes(wanted))
    .slice(0, MOST);
  const active = Math.min(chosen, found.length - 1);

  const open = (id: string | undefined) => {
    if (!id) return;
    onClose();
    void navigate(`/w/${id}`);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && found.length > 0) {
      event.preventDefault();
      setChosen((active + step + found.length) % found.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      open(found[active]?.id);
    }
  };

  return (
    <>
      <TextInput
        data-autofocus
        role="combobox"
        aria-expanded={found.length > 0}
        aria-controls={listId}
        aria-activedescendant={found[active] ? `${listId}-${active}` : undefined}
        aria-autocomplete="list"
        aria-label={t('finder.title')}
        placeholder={t('finder.placeholder')}
        leftSection={<IconSearch size="1rem" />}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div className={classes.list} role="listbox" id={listId} aria-label={t('nav.workspaces')}>
        {found.map((workspace, i) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field that owns this list handles the keys
          <div
            key={workspace.id}
            id={`${listId}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === active}
            className={classes.option}
            onClick={() => open(workspace.id)}
          >
            <span>{workspace.name}</span>
            <Text span size="sm" c="dimmed">
              {workspace.client.name}
            </Text>
          </div>
        ))}
      </div>
      <Text size="sm" c="dimmed" mt="sm" role="status">
        {found.length === 0 ? t('finder.none') : t('finder.hint')}
      </Text>
    </>
  );
}

/** Quick switcher over my workspaces. */
export function Finder({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t('finder.title')}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <Find onClose={onClose} />
    </Modal>
  );
}
