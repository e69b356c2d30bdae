import { useCallback, useState } from 'react';

const PREFIX = 'sparkroom.kept.';

function read<T>(key: string): T | null {
  try {
    const stored = sessionStorage.getItem(PREFIX + key);
    return stored === null ? null : (JSON.parse(stored) as T);
  } catch {
    return null;
  }
}

/**
 * State of a form that survives a reload and an ended session, in this tab only.
 * @param key says whose and which form it is
 * @param initial what to begin with when nothing was kept
 * @returns the value, a setter, a function that forgets it, and whether it came from an earlier page load
 */
export function useKept<T>(key: string, initial: T) {
  const [state, setState] = useState(() => {
    const kept = read<T>(key);
    return { value: kept ?? initial, restored: kept !== null };
  });
  const set = useCallback(
    (value: T) => {
      setState((old) => ({ ...old, value }));
      try {
        sessionStorage.setItem(PREFIX + key, JSON.stringify(value));
      } catch {
        // A full or forbidden storage only costs the survival of a reload.
      }
    },
    [key],
  );
  const forget = useCallback(() => {
    sessionStorage.removeItem(PREFIX + key);
    setState({ value: initial, restored: false });
  }, [key, initial]);
  return { value: state.value, restored: state.restored, set, forget };
}

/** Forgets every kept form: the person has signed out. */
export function forgetKept(): void {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
  }
}
