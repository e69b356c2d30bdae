import { Button, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { focusHeading } from '../shell/page-heading.tsx';
import classes from './news-bar.module.css';

export interface NewsBarProps {
  /** What others did, in words; empty when there is nothing. */
  text: string;
  /** Word of the button; "Show" unless given. */
  action?: string;
  onShow: () => void;
}

/** Announces what others did; it enters the page on click, never by itself. */
export function NewsBar({ text, action, onShow }: NewsBarProps) {
  const { t } = useTranslation();
  return (
    <div role="status">
      {text === '' ? null : (
        <Group className={classes.bar} gap="sm">
          <Text fw={600}>{text}</Text>
          <Button
            size="compact-sm"
            onClick={() => {
              onShow();
              focusHeading();
            }}
          >
            {action ?? t('ideas.show')}
          </Button>
        </Group>
      )}
    </div>
  );
}
