import { Alert, Button, Group, Text } from '@mantine/core';
import type { Idea } from '@sparkroom/contract';
import { RelativeTime } from '@sparkroom/ui';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './conflict-panel.module.css';
import { DiffText } from './diff-text.tsx';
import type { IdeaText } from './idea-text.ts';

export interface ConflictPanelProps {
  theirs: Idea;
  mine: IdeaText;
  busy: boolean;
  onKeepMine: () => void;
  onTakeTheirs: () => void;
  onMerge: () => void;
}

/** Two versions side by side after a stale edit; nothing is lost until the writer chooses. */
export function ConflictPanel({ theirs, mine, busy, onKeepMine, onTakeTheirs, onMerge }: ConflictPanelProps) {
  const { t } = useTranslation();
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => panel.current?.focus(), []);
  return (
    <section ref={panel} tabIndex={-1} className={classes.panel} aria-label={t('conflict.title')}>
      <Alert color="red" role="alert" title={t('conflict.title')}>
        {t('conflict.text')}
      </Alert>
      <div className={classes.sides}>
        <div className={classes.side}>
          <Text fw={600}>{t('conflict.theirs')}</Text>
          <Text size="sm" c="dimmed" mb="sm">
            {t('conflict.savedBy', { version: theirs.version })} · <RelativeTime at={theirs.updatedAt} />
          </Text>
          <p className={classes.title}>{theirs.title}</p>
          <p className={classes.text}>{theirs.body.text}</p>
          <Text size="sm">{theirs.tags.join(', ')}</Text>
        </div>
        <div className={classes.side}>
          <Text fw={600}>{t('conflict.mine')}</Text>
          <Text size="sm" c="dimmed" mb="sm">
            {t('history.diff')}
          </Text>
          <div className={classes.title}>
            <DiffText before={theirs.title} after={mine.title} />
          </div>
          <DiffText before={theirs.body.text} after={mine.text} />
          <Text size="sm">{mine.tags.join(', ')}</Text>
        </div>
      </div>
      <Group>
        <Button onClick={onMerge}>{t('conflict.merge')}</Button>
        <Button variant="default" loading={busy} onClick={onKeepMine}>
          {t('conflict.keepMine')}
        </Button>
        <Button variant="default" onClick={onTakeTheirs}>
          {t('conflict.takeTheirs')}
        </Button>
      </Group>
    </section>
  );
}
