/**
 * One Ctrl-C arrives several times: from the terminal (which signals the whole foreground group), from npm
 * and from bootstrap.mjs (which pass on what they get). Signals this close together count as one.
 */
const sameMs = 500;

/**
 * Calls `first` on the first SIGINT, SIGTERM or SIGHUP, and `again` on one that comes later.
 *
 * @returns takes the handlers off again.
 */
export function onInterrupt(first: (signal: NodeJS.Signals) => void, again: () => void): () => void {
  let firstAt: number | undefined;
  const hear = (signal: NodeJS.Signals): void => {
    const now = performance.now();
    if (firstAt === undefined) {
      firstAt = now;
      first(signal);
    } else if (now - firstAt > sameMs) again();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, hear);
  return () => {
    for (const signal of signals) process.off(signal, hear);
  };
}
