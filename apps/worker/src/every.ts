import type { Log } from '@sparkroom/events';

/** Something done over and over. */
export interface Repeated {
  /** Ends it after the run that goes on now, if any. */
  stop(): Promise<void>;
}

/** Milliseconds until the first run: soon, since the process may have started because another one died. */
const firstMs = 1_000;

/** Runs `work` soon and then every `ms` milliseconds, never twice at once; what it throws is logged. */
export function every(
  ms: number,
  name: string,
  log: Log,
  work: (signal: AbortSignal) => Promise<void>,
): Repeated {
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout;
  const plan = (inMs: number): void => {
    timer = setTimeout(() => {
      running = work(stopping.signal)
        .catch((error: unknown) => {
          log.warn(
            { job: name, error: error instanceof Error ? error.message : String(error) },
            'job failed',
          );
        })
        .then(() => {
          if (!stopping.signal.aborted) plan(ms);
        });
    }, inMs);
  };
  plan(Math.min(firstMs, ms));
  return {
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
