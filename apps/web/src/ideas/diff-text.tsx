import { VisuallyHidden } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import classes from './diff-text.module.css';
import { wordDiff } from './word-diff.ts';

/** The later text with what was added and removed marked, also for those who hear the page. */
export function DiffText({ before, after }: { before: string; after: string }) {
  const { t } = useTranslation();
  return (
    <div className={classes.text}>
      {wordDiff(before, after).map((part, i) => {
        // biome-ignore lint/suspicious/noArrayIndexKey: parts of one comparison have no identity but their place
        if (part.kind === 'same') return <span key={i}>{part.text}</span>;
        const Mark = part.kind === 'added' ? 'ins' : 'del';
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <Mark key={i}>
            <VisuallyHidden>
              {part.kind === 'added' ? t('history.added') : t('history.deleted')}{' '}
            </VisuallyHidden>
            {part.text}
          </Mark>
        );
      })}
    </div>
  );
}
