import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sureFolder } from './folders.ts';
import { claim } from './launcher-lock.ts';
import { type Stack, type StackOptions, startStack, stopLeftovers } from './stack.ts';
import type { StoreName } from './stores/store.ts';

/** Tests look for free ports from here upwards, so that they never meet the ports of `npm start`. */
export const testPorts: Readonly<Record<StoreName, number>> = {
  mysql: 23306,
  cloudant: 25984,
  redis: 26379,
  nats: 24222,
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
  for (const name of await readdir(parent))
    if (name.startsWith('run-')) await removeDeadRun(join(parent, name));

  let number = 0;
  const nameOf = (): string => join(parent, `run-${process.pid}${number > 0 ? `-${number}` : ''}`);
  while (running.has(nameOf())) number++;
  const dir = nameOf();
  running.add(dir);
  const stack = await startStack({
    ...options,
    dir,
    ports: testPorts,
    nextFreePort: true,
    durable: false,
    template: join(parent, 'template'),
  });
  return {
    ...stack,
    async stop() {
      await stack.stop();
      await rm(dir, { recursive: true, force: true });
      running.delete(dir);
    },
  };
}

const running = new Set<string>();

async function removeDeadRun(dir: string): Promise<void> {
  if (running.has(dir)) return;
  try {
    const lock = claim(join(dir, 'run', 'launcher.json'));
    await stopLeftovers(dir, () => {});
    await rm(dir, { recursive: true, force: true });
    lock.release();
  } catch {
    // Alive, or another run is removing it right now.
  }
}
