import type { Score } from '@sparkroom/contract';
import { useTranslation } from 'react-i18next';
import classes from './score-bar.module.css';
import { onScale } from './score-scale.ts';
import { useIntlLocale } from './time.tsx';

const MARKS = [1, 2, 3, 4, 5] as const;

/** Score with one decimal in the reader's language. */
export function useScoreFormat(): (value: number) => string {
  const format = new Intl.NumberFormat(useIntlLocale(), {
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  });
  return (value) => format.format(value);
}

/** Dot and interval on the one scale from 1 to 5. */
export function ScoreBar({ score }: { score: Score }) {
  const { t } = useTranslation();
  const format = useScoreFormat();
  const { value, low, high } = score;
  const known = value !== null && low !== null && high !== null;
  const label = known
    ? t('score.aria', { value: format(value), low: format(low), high: format(high) })
    : t('score.ariaNone');
  return (
    <span className={classes.bar} role="img" aria-label={label} title={label}>
      <span className={classes.line} />
      {MARKS.map((mark) => (
        <span key={mark} className={classes.tick} style={{ left: `${onScale(mark)}%` }} />
      ))}
      {known ? (
        <>
          <span
            className={classes.range}
            style={{ left: `${onScale(low)}%`, width: `${onScale(high) - onScale(low)}%` }}
          />
          <span className={classes.dot} style={{ left: `${onScale(value)}%` }} />
        </>
      ) : null}
    </span>
  );
}

/** Numbers of the scale, to stand above a column of bars. */
export function ScoreAxis() {
  return (
    <span className={classes.axis} aria-hidden="true">
      {MARKS.map((mark) => (
        <span key={mark} style={{ left: `${onScale(mark)}%` }}>
          {mark}
        </span>
      ))}
    </span>
  );
}

/** "4.2 from 6 of 11 members". */
export function Coverage({ score }: { score: Score }) {
  const { t } = useTranslation();
  const format = useScoreFormat();
  const { value, raters, eligible } = score;
  return (
    <span className={classes.coverage}>
      {value === null || raters === 0
        ? t('score.none')
        : t('score.coverage', { value: format(value), raters, eligible })}
    </span>
  );
}
