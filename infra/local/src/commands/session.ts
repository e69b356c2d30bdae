import { killEverythingNow } from '../managed-process.ts';
import { signalPrograms } from '../run-program.ts';
import { onInterrupt } from '../signals.ts';
import type { Steps } from '../steps.ts';
import { LauncherError } from '../trouble.ts';

/** What a command may do until it is interrupted. */
export interface Session {
  /** Aborted at the first Ctrl-C (SIGINT, SIGTERM or SIGHUP). */
  signal: AbortSignal;
  /** Ends when the session is interrupted. */
  untilInterrupted: Promise<void>;
  /** Registers what to stop at the end; the last registered is stopped first. */
  atEnd(stop: () => Promise<void>): void;
}

/**
 * Runs a command so that Ctrl-C stops everything in order, and a second Ctrl-C everything at once.
 *
 * @returns the command's exit code; 0 after an orderly stop by Ctrl-C. After a second Ctrl-C the process ends
 *   with 130.
 */
export async function inSession(
  steps: Steps,
  command: (session: Session) => Promise<number>,
): Promise<number> {
  const interrupted = new AbortController();
  const stops: (() => Promise<void>)[] = [];
  const off = onInterrupt(
    (signal) => {
      steps.log('stopping; once more stops at once');
      interrupted.abort(new Error('interrupted'));
      signalPrograms(signal);
    },
    () => {
      signalPrograms('SIGKILL');
      killEverythingNow();
      console.error('stopped at once');
      process.exit(130);
    },
  );
  const untilInterrupted = new Promise<void>((resolve) => {
    interrupted.signal.addEventListener('abort', () => resolve());
  });
  // A pending promise keeps no process alive, a timer does: the stores may all be somebody else's.
  const alive = setInterval(() => {}, 60_000);
  try {
    return await command({
      signal: interrupted.signal,
      untilInterrupted,
      atEnd: (stop) => stops.unshift(stop),
    });
  } catch (error) {
    // What fails because it was told to stop has not failed.
    if (interrupted.signal.aborted && !(error instanceof LauncherError && error.code === 'disk-full'))
      return 0;
    throw error;
  } finally {
    for (const stop of stops) await stop();
    if (interrupted.signal.aborted) steps.log('stopped');
    clearInterval(alive);
    off();
  }
}
