import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { ReactNode, RefObject } from 'react';
import { useTranslation } from 'react-i18next';
import { returnFocus } from './return-focus.ts';

export interface ConfirmDialogProps {
  opened: boolean;
  onClose: () => void;
  onConfirm: () => void;
  title: string;
  /** What will happen. */
  text: string;
  /** The deed as a verb, on the button. */
  confirm: string;
  busy?: boolean;
  /** It cannot be undone. */
  danger?: boolean;
  /** Button of the menu that it was opened from. */
  from?: RefObject<HTMLElement | null>;
  children?: ReactNode;
}

/** Asks before something that others notice or that cannot be undone. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { t } = useTranslation();
  return (
    <Modal
      opened={props.opened}
      onClose={props.onClose}
      onExitTransitionEnd={returnFocus(props.from)}
      title={props.title}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      <Stack>
        <Text>{props.text}</Text>
        {props.children}
        <Group justify="flex-end">
          <Button variant="default" onClick={props.onClose}>
            {t('common.cancel')}
          </Button>
          <Button
            {...(props.danger ? { color: 'red' } : {})}
            loading={props.busy ?? false}
            onClick={props.onConfirm}
          >
            {props.confirm}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
