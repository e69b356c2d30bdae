import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './frame.module.css';

export interface FrameProps {
  /** Left column from tablet width on. */
  rail: ReactNode;
  /** Bar above the page on a phone. */
  top: ReactNode;
  /** Items of the bar below the page on a phone. */
  bottom: ReactNode;
  children: ReactNode;
}

/** The frame of every page: skip link, rail or bars, and the work in the middle. */
export function Frame({ rail, top, bottom, children }: FrameProps) {
  const { t } = useTranslation();
  return (
    <>
      <a className={classes.skip} href="#main">
        {t('common.skip')}
      </a>
      <div className={classes.frame}>
        <nav className={classes.rail} aria-label={t('common.menu')}>
          {rail}
        </nav>
        <header className={classes.top}>{top}</header>
        <main className={classes.main} id="main" tabIndex={-1}>
          {children}
        </main>
        <nav className={classes.bottom} aria-label={t('common.menu')}>
          {bottom}
        </nav>
      </div>
    </>
  );
}

/** Class of a link or button in the bottom bar: icon above a short word. */
export const bottomItemClass: string = classes.bottomItem ?? '';
