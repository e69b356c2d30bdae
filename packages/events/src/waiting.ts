/**
 * Waits `ms` milliseconds, or until `signal` aborts.
 * @returns false when the signal ended it
 */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const done = (full: boolean): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      resolve(full);
    };
    const onAbort = (): void => done(false);
    const timer = setTimeout(() => done(true), ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** Waits for `promise`, at most `ms` milliseconds. @returns false when the time ran out first */
export async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const clock = new AbortController();
  const late = pause(ms, clock.signal).then((full) => !full);
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clock.abort();
  }
}

/** Delay before try number `attempt` (from 1): doubles from `first` to `most`, with +-20 % so that waiters spread. */
export function growing(attempt: number, first: number, most: number): number {
  const base = Math.min(most, first * 2 ** Math.min(attempt - 1, 30));
  return Math.round(base * (0.8 + Math.random() * 0.4));
}

/**
 * A bell that can be rung before anybody waits: one ring wakes the present waiter, or else the next one.
 * Rings do not add up.
 */
export class Bell {
  #rung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Waits for a ring, at most `ms` milliseconds. @returns whether it rang */
  async wait(ms: number): Promise<boolean> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#wake = undefined;
    }
    const rang = this.#rung;
    this.#rung = false;
    return rang;
  }
}
