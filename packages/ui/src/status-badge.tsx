import type { IdeaStatus } from '@sparkroom/contract';
import { useTranslation } from 'react-i18next';
import classes from './status-badge.module.css';

/** Status of an idea: a word, and a dot whose colour only repeats it. */
export function StatusBadge({ status }: { status: IdeaStatus }) {
  const { t } = useTranslation();
  return (
    <span className={classes.badge} data-status={status}>
      <span className={classes.dot} aria-hidden="true" />
      {t(`status.${status}`)}
    </span>
  );
}
