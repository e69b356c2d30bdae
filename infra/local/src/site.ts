import { join } from 'node:path';
import { ManagedProcess } from './managed-process.ts';
import { isPortFree, portInUse } from './ports.ts';
import { isInRepository, repository } from './repository.ts';
import { runScript, signalPrograms } from './run-program.ts';
import type { Stack } from './stack.ts';
import type { Steps } from './steps.ts';
import { answersHttp } from './stores/store.ts';
import { LauncherError } from './trouble.ts';
import { buildWeb } from './web-build.ts';

export const programs = {
  server: 'apps/server/src/main.ts',
  worker: 'apps/worker/src/main.ts',
  migrate: 'apps/server/src/migrate.ts',
  seed: 'apps/server/src/seed/main.ts',
  screenshots: 'apps/web/scripts/screenshots.ts',
} as const;

export interface SiteOptions {
  port: number;
  host: string;
  steps: Steps;
  /** Fill an empty site with the demo. Default true. */
  seed?: boolean;
  /** More environment for server, worker, migrations and seed. */
  env?: Record<string, string>;
}

export interface Site {
  url: string;
  /** The stack's environment and where the site is. */
  env: Record<string, string>;
  /** Stops server and worker and lets them drain; not the stack. */
  stop(): Promise<void>;
  /** Pid of one of them while it runs. */
  pid(name: 'server' | 'worker'): number | undefined;
}

/**
 * Brings the site up on a running stack: migrates, builds the web app, seeds the demo, starts server and
 * worker and keeps them running.
 *
 * @throws LauncherError `port-in-use`, `program-failed` or `store-failed` (with last log lines). Neither server
 *   nor worker keeps running then.
 */
export async function startSite(stack: Stack, options: SiteOptions): Promise<Site> {
  const { steps, port, host } = options;
  const address = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const url = `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
  const env = {
    ...stack.env,
    SPARKROOM_PORT: String(port),
    SPARKROOM_HOST: host,
    // Behind a proxy people type another address.
    SPARKROOM_URL: process.env.SPARKROOM_URL || url,
    ...options.env,
  };
  if (!(await isPortFree(port))) throw portInUse('The web app', port, 'SPARKROOM_PORT');

  const preparing = [buildWeb(steps), fillStores()];
  try {
    await Promise.all(preparing);
  } catch (error) {
    // The other one must not go on against stores that are about to stop.
    signalPrograms('SIGTERM');
    await Promise.allSettled(preparing);
    throw error;
  }
  async function fillStores(): Promise<void> {
    await runStep('migrating the databases', programs.migrate, steps, env);
    if (options.seed ?? true) await runStep('seeding the demo', programs.seed, steps, env);
  }

  const manage = (name: 'server' | 'worker', isReady: () => Promise<boolean>): ManagedProcess =>
    new ManagedProcess({
      name,
      label: name === 'server' ? 'The server' : 'The worker',
      runFolder: join(stack.dir, 'run'),
      logFolder: join(stack.dir, 'logs'),
      cwd: repository,
      command: () => ({ file: process.execPath, args: [join(repository, programs[name])], env }),
      isReady,
      readyMs: 60_000,
      stopMs: 20_000,
      log: (line) => steps.log(line),
    });
  const managed: ManagedProcess[] = [];
  for (const [name, isReady] of [
    ['server', () => answersHttp(`${url}/healthz`)],
    ['worker', () => Promise.resolve(true)],
  ] as const) {
    if (isInRepository(programs[name])) managed.push(manage(name, isReady));
    else steps.log(`${name}: ${programs[name]} is not there yet; not started`);
  }
  const stop = async (): Promise<void> => {
    await Promise.all(managed.map((program) => program.stop()));
  };
  try {
    await steps.run('starting server and worker', () =>
      Promise.all(managed.map((program) => program.start())),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  stack.tell({ url, env });
  return { url, env, stop, pid: (name) => managed.find((program) => program.name === name)?.pid };
}

/**
 * Runs one of the site's own programs to its end and shows what it prints.
 *
 * @throws LauncherError `program-failed` when it ends with another exit code than 0.
 */
export async function runStep(
  what: string,
  file: string,
  steps: Steps,
  env: Record<string, string>,
  args: readonly string[] = [],
): Promise<void> {
  if (!isInRepository(file)) {
    steps.log(`${what}: ${file} is not there yet; skipped`);
    return;
  }
  await steps.run(what, async () => {
    let rest = '';
    const { code } = await runScript(file, args, {
      env,
      hear: (text) => {
        const lines = (rest + text).split(/\r?\n|\r/);
        rest = lines.pop() ?? '';
        for (const line of lines) if (line.trim() !== '') steps.log(`  ${line}`);
      },
    });
    if (rest.trim() !== '') steps.log(`  ${rest}`);
    if (code !== 0) {
      throw new LauncherError(
        'program-failed',
        `${what}: ${file} failed (exit code ${code}); what it said is above.`,
      );
    }
  });
}
