import classes from './logo.module.css';

/** The mark: a room with a spark in it. Decorative; the name stands beside it or in a label. */
export function Logo() {
  return (
    <svg className={classes.logo} viewBox="0 0 32 32" aria-hidden="true">
      <path className={classes.room} d="M6 13 16 5l10 8v11a3 3 0 0 1-3 3H9a3 3 0 0 1-3-3z" />
      <path className={classes.spark} d="M16 11.5l1.7 4.3 4.3 1.7-4.3 1.7-1.7 4.3-1.7-4.3-4.3-1.7 4.3-1.7z" />
    </svg>
  );
}
