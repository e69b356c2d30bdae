import type { Log } from '@sparkroom/events';

/** Something done over and over. */
export interface Repeated {
  /** Ends it after the run that goes on now, if any. */
  stop(): Promise<void>;
}

/** Runs `work` every `ms` milliseconds from now on, never twice at once; what it throws is logged. */
export function every(
  ms: number,
  name: string,
  log: Log,
  work: (signal: AbortSignal) => Promise<void>,
): Repeated {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;
  const plan = (): void => {
    timer = setTimeout(() => {
      running = work(stopping.signal)
        .catch((error: unknown) => {
          log.warn(
            { job: name, error: error instanceof Error ? error.message : String(error) },
            'job failed',
          );
        })
        .then(() => {
          if (!stopping.signal.aborted) plan();
        });
    }, ms);
  };
  plan();
  return {
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
