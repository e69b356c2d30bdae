import { join } from 'node:path';
import { readRunning } from '../launcher-lock.ts';
import { nextFreePort } from '../ports.ts';
import { isInRepository, privateFolder } from '../repository.ts';
import { runScript } from '../run-program.ts';
import { programs, runStep, startSite } from '../site.ts';
import { startStack } from '../stack.ts';
import { startSteps } from '../steps.ts';
import { LauncherError } from '../trouble.ts';
import { inSession } from './session.ts';
import { defaultPort } from './start.ts';

/** Runs a program against the running stores, or against stores started for it alone. */
export function withStores(file: string, args: readonly string[]): Promise<number> {
  return against(file, args, false, {});
}

/** Runs a program against the running site, or against one started for it alone; `env` is added to its environment. */
export function withSite(
  file: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<number> {
  return against(file, args, true, env);
}

/** Runs a program that brings its own stack, if it needs one. */
export async function alone(file: string, args: readonly string[]): Promise<number> {
  if (!isInRepository(file))
    throw new LauncherError('bad-setting', `There is no ${file} in this repository.`);
  return inSession(startSteps(console.error), async () => (await runScript(file, args)).code);
}

async function against(
  file: string,
  args: readonly string[],
  needsSite: boolean,
  more: Record<string, string>,
): Promise<number> {
  const running = readRunning(join(privateFolder, 'run', 'launcher.json'));
  const steps = startSteps(console.error);
  if (running?.env !== undefined && (running.url !== undefined || !needsSite)) {
    return inSession(
      steps,
      async () => (await runScript(file, args, { env: { ...running.env, ...more } })).code,
    );
  }
  return inSession(steps, async ({ signal, atEnd }) => {
    const stack = await startStack({ dir: privateFolder, log: steps.log, signal });
    atEnd(stack.stop);
    let env: Record<string, string> = { ...stack.env };
    if (needsSite) {
      const site = await startSite(stack, {
        port: await nextFreePort(defaultPort),
        host: '127.0.0.1',
        steps,
      });
      atEnd(site.stop);
      env = site.env;
    } else await runStep('migrating the databases', programs.migrate, steps, env);
    signal.throwIfAborted();
    return (await runScript(file, args, { env: { ...env, ...more } })).code;
  });
}
