import { Button, Group, Stack, Text, Title } from '@mantine/core';
import type { Reason, Store } from '@sparkroom/contract';
import { IconAlertTriangle, IconRefresh } from '@tabler/icons-react';
import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './states.module.css';

/** What is known of an error: a reason of the closed list, or null when the server did not answer. */
export interface Trouble {
  reason: Reason | null;
  store?: Store | undefined;
  /** What became of a change, when the store went away in the middle of it. */
  outcome?: 'unknown' | 'stored' | undefined;
  requestId?: string | undefined;
}

/** What happened, and what is safe and to be done, in the reader's language. */
export function troubleText(t: TFunction, trouble: Trouble): { title: string; text: string } {
  const reason = trouble.reason ?? 'OFFLINE';
  if (reason === 'STORE_UNAVAILABLE') {
    return {
      title: t('error.STORE_UNAVAILABLE.title', { store: t(`store.${trouble.store ?? 'other'}`) }),
      text: t(`error.STORE_UNAVAILABLE.${trouble.outcome ?? 'text'}`),
    };
  }
  return { title: t(`error.${reason}.title`), text: t(`error.${reason}.text`) };
}

export interface ErrorStateProps {
  trouble: Trouble;
  onRetry?: (() => void) | undefined;
  /** Where else to go. */
  action?: ReactNode;
  /** 1 when it is all there is on the page. */
  order?: 1 | 2;
}

/** Shown instead of what could not be loaded: what happened, what is safe, what to do. */
export function ErrorState({ trouble, onRetry, action, order = 2 }: ErrorStateProps) {
  const { t } = useTranslation();
  const { title, text } = troubleText(t, trouble);
  return (
    <Stack className={classes.error} align="center" ta="center" gap="md" role="alert">
      <div className={classes.icon} data-tone="bad" aria-hidden="true">
        <IconAlertTriangle />
      </div>
      <div>
        <Title order={order} size="h2">
          {title}
        </Title>
        <Text mt="xs">{text}</Text>
        {trouble.reason === 'INTERNAL' && trouble.requestId ? (
          <Text mt="xs" size="sm" c="dimmed">
            {t('error.requestId', { id: trouble.requestId })}
          </Text>
        ) : null}
      </div>
      {onRetry || action ? (
        <Group justify="center">
          {onRetry ? (
            <Button leftSection={<IconRefresh size="1.125rem" />} onClick={onRetry}>
              {t('common.retry')}
            </Button>
          ) : null}
          {action}
        </Group>
      ) : null}
    </Stack>
  );
}
