import { useEffect, useRef } from 'react';

/** Somebody is typing, or a dialog is open: letters belong there. */
function isBusy(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest('input, textarea, select, [role="combobox"]')) return true;
  return document.querySelector('[role="dialog"][aria-modal="true"], [role="menu"]') !== null;
}

/**
 * Calls `run` when one of `keys` is pressed alone, outside fields and dialogs.
 * @param keys values of `KeyboardEvent.key`; `mod+k` is Ctrl-K or Command-K and works everywhere
 * @param run gets the key
 */
export function useShortcut(keys: readonly string[], run: (key: string) => void): void {
  const latest = useRef(run);
  latest.current = run;
  const list = keys.join(' ');
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.altKey || event.isComposing) return;
      const mod = event.ctrlKey || event.metaKey;
      const key = mod ? `mod+${event.key.toLowerCase()}` : event.key;
      if (!list.split(' ').includes(key) || (!mod && isBusy(event.target))) return;
      event.preventDefault();
      latest.current(key);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [list]);
}
