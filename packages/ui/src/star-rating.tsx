import { ActionIcon, VisuallyHidden } from '@mantine/core';
import { IconStar, IconX } from '@tabler/icons-react';
import { type KeyboardEvent, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './star-rating.module.css';

const STARS = [1, 2, 3, 4, 5] as const;
type Star = (typeof STARS)[number];

export interface StarRatingProps {
  /** My rating, or null. */
  value: number | null;
  /** Called with 1 to 5. Without it the stars are only shown. */
  onRate?: ((stars: number) => void) | undefined;
  /** Takes the rating back; without it there is no such button. */
  onClear?: (() => void) | undefined;
  /** What is rated, for those who hear the page. */
  title?: string;
  /** Idea page: large stars. */
  large?: boolean;
}

const asStar = (value: number | null): Star | null => STARS.find((s) => s === value) ?? null;

/**
 * Radio group of five stars with words. Arrow keys move without rating, since each rating is told to the room at
 * once; Enter or Space rates, and so do the keys 1 to 5.
 */
export function StarRating({ value, onRate, onClear, title, large }: StarRatingProps) {
  const { t } = useTranslation();
  const group = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<Star | null>(null);
  const rated = asStar(value);
  const shown = pointed ?? rated;
  const label = title ? t('rating.groupFor', { title }) : t('rating.group');

  const focusStar = (star: Star) => {
    group.current?.querySelector<HTMLButtonElement>(`[data-star="${star}"]`)?.focus();
  };
  const clear = () => {
    onClear?.();
    // The button disappears with the rating; the group it belongs to keeps the focus.
    focusStar(1);
    setPointed(null);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLButtonElement>, star: Star) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    const digit = asStar(Number(event.key));
    if (step) {
      const next = asStar(((star - 1 + step + 5) % 5) + 1);
      if (next) focusStar(next);
    } else if (digit && onRate) {
      focusStar(digit);
      onRate(digit);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div className={classes.rating} data-large={large || undefined}>
      <div
        ref={group}
        className={classes.stars}
        role="radiogroup"
        aria-label={label}
        onPointerLeave={() => setPointed(null)}
      >
        {STARS.map((star) => (
          // biome-ignore lint/a11y/useSemanticElements: a native radio rates on every arrow key; here arrows only move
          <button
            key={star}
            type="button"
            role="radio"
            className={classes.star}
            data-star={star}
            data-on={shown !== null && star <= shown ? true : undefined}
            aria-checked={rated === star}
            aria-disabled={onRate ? undefined : true}
            aria-label={t('rating.star', { count: star, word: t(`rating.word${star}`) })}
            tabIndex={star === (rated ?? 1) ? 0 : -1}
            onClick={() => onRate?.(star)}
            onPointerEnter={(event) => {
              if (onRate && event.pointerType === 'mouse') setPointed(star);
            }}
            onFocus={(event) => {
              if (onRate && event.currentTarget.matches(':focus-visible')) setPointed(star);
            }}
            onBlur={() => setPointed(null)}
            onKeyDown={(event) => onKeyDown(event, star)}
          >
            <IconStar className={classes.icon} stroke={1.6} aria-hidden="true" />
          </button>
        ))}
      </div>
      <span className={classes.said}>
        <span
          className={classes.word}
          data-hint={shown === null || pointed !== null || undefined}
          aria-hidden="true"
        >
          {shown === null ? (onRate ? t('rating.rate') : '') : t(`rating.word${shown}`)}
        </span>
        {rated !== null && onRate && onClear ? (
          <ActionIcon
            variant="subtle"
            color="gray"
            onClick={clear}
            aria-label={t('rating.clear')}
            title={t('rating.clear')}
          >
            <IconX size="1rem" />
          </ActionIcon>
        ) : null}
      </span>
      <VisuallyHidden role="status">{rated === null ? '' : t(`rating.word${rated}`)}</VisuallyHidden>
    </div>
  );
}
