import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './states.module.css';

export interface EmptyStateProps {
  icon?: ReactNode;
  /** One sentence that teaches what belongs here. */
  text: string;
  /** The first thing to do. */
  action?: ReactNode;
}

/** Shown where a list has nothing: one sentence and the first action. */
export function EmptyState({ icon, text, action }: EmptyStateProps) {
  return (
    <Stack className={classes.state} align="center" gap="md">
      {icon ? (
        <div className={classes.icon} aria-hidden="true">
          {icon}
        </div>
      ) : null}
      <Text className={classes.text}>{text}</Text>
      {action}
    </Stack>
  );
}
