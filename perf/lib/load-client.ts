import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LoadRequest, LoadResult } from './load.ts';

export interface LoadClient {
  readonly pid: number;
  /** @throws Error when the process has died */
  run(origin: string, users: LoadRequest[][]): Promise<LoadResult>;
  stop(): Promise<void>;
}

/** Starts the load generator in a process of its own. */
export async function startLoadClient(): Promise<LoadClient> {
  const child: ChildProcess = fork(fileURLToPath(new URL('./load-process.ts', import.meta.url)));
  await once(child, 'spawn');
  return {
    pid: child.pid as number,
    run(origin, users) {
      return new Promise((resolve, reject) => {
        const died = (code: number | null) =>
          reject(new Error(`The load generator ended with code ${code}.`));
        child.once('exit', died);
        child.once('message', (answer: { result?: LoadResult; failure?: string }) => {
          child.off('exit', died);
          if (answer.result) resolve(answer.result);
          else reject(new Error(`The load generator failed: ${answer.failure}`));
        });
        child.send({ origin, users });
      });
    },
    async stop() {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}
