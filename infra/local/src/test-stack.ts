import { rmSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sureFolder } from './folders.ts';
import { claim } from './launcher-lock.ts';
import { identifyProcess } from './process-identity.ts';
import { type Stack, type StackOptions, startStack, stopLeftovers } from './stack.ts';
import type { StoreName } from './stores/store.ts';

/** Runs at the same time begin their search apart, by this many ports at most. */
const spread = 380;

/**
 * Where this run's tests look for free ports, upwards. Away from the ports of `npm start`, and from those of other runs:
 * a run that looked from the same number would take the port of a store that a test has killed for a while.
 */
const testPorts: Readonly<Record<StoreName, number>> = {
  mysql: 23306 + (process.pid % spread),
  cloudant: 25984 + (process.pid % spread),
  redis: 26379 + (process.pid % spread),
  nats: 28222 + (process.pid % spread),
};

/**
 * Starts an empty stack for one test run in a folder of its own, so that several runs (and `npm start`) live
 * side by side. Stopping it deletes the folder. What runs that were killed left behind is removed first.
 * Servers named by `SPARKROOM_<STORE>_URL` are used instead of own ones.
 *
 * @param root the repository's `.sparkroom` folder.
 */
export async function startTestStack(
  root: string,
  options: Pick<StackOptions, 'only' | 'log' | 'env'> = {},
): Promise<Stack> {
  const parent = join(root, 'test');
  await sureFolder(parent);
  await removeDeadRuns(root);

  const dir = await mkdtemp(join(parent, `run-${process.pid}-`));
  const stack = await startStack({
    ...options,
    dir,
    ports: testPorts,
    nextFreePort: true,
    durable: false,
    template: join(parent, 'template'),
  }).catch(async (error: unknown) => {
    await rm(dir, { recursive: true, force: true });
    throw error;
  });
  // A test runner that is interrupted ends without its tear-down.
  const stopNow = (): void => {
    stack.stopNow();
    rmSync(dir, { recursive: true, force: true });
  };
  process.once('exit', stopNow);
  return {
    ...stack,
    async stop() {
      process.off('exit', stopNow);
      await stack.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/**
 * Stops and removes what test runs that were killed have left: folders `test/run-<pid>-...` whose process is no
 * longer alive.
 *
 * @param root the repository's `.sparkroom` folder.
 */
export async function removeDeadRuns(root: string): Promise<void> {
  const parent = join(root, 'test');
  for (const name of await readdir(parent).catch(() => [])) {
    const [, pid] = /^run-(\d+)-/.exec(name) ?? [];
    if (pid === undefined || identifyProcess(Number(pid)) !== undefined) continue;
    const dir = join(parent, name);
    try {
      await sureFolder(join(dir, 'run'));
      const lock = claim(join(dir, 'run', 'launcher.json'));
      await stopLeftovers(dir, () => {});
      await rm(dir, { recursive: true, force: true });
      lock.release();
    } catch {
      // A launcher in it is alive, or another run is removing it right now.
    }
  }
}
