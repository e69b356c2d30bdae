import type { RefObject } from 'react';

/**
 * For the end of a dialog that was opened from a menu: the item chosen has gone, so the focus goes to the menu's button,
 * unless something else has it by then.
 */
export const returnFocus = (button: RefObject<HTMLElement | null> | undefined) => () => {
  const at = document.activeElement;
  if (at === null || at === document.body || at.closest('[role="dialog"]')) button?.current?.focus();
};
