import { join } from 'node:path';
import { ManagedProcess } from './managed-process.ts';
import { isPortFree, nextFreePort, portInUse } from './ports.ts';
import { mayHoldPort } from './process-identity.ts';
import { repository } from './repository.ts';
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

/** Where the worker's health pages are when nothing else is asked for. */
const usualWorkerPort = 3001;

export interface SiteOptions {
  port: number;
  host: string;
  steps: Steps;
  /**
   * The address people type, behind a proxy for example. Default: the site's own. `SPARKROOM_URL` in our own
   * environment does not count, since it may be that of another site.
   */
  publicUrl?: string | undefined;
  /** Port of the worker's health pages. Default: 3001, or the next free one. */
  workerPort?: number | undefined;
  /** Fill an empty site with the demo. Default true. */
  seed?: boolean;
  /** More environment for server, worker, migrations and seed; what follows from the other options goes before it. */
  env?: Record<string, string>;
}

export interface Site {
  url: string;
  /** The stack's environment, the given one, and where the site and the worker's health pages are. */
  env: Record<string, string>;
  /** Stops server and worker and lets them drain; not the stack. */
  stop(): Promise<void>;
  /** Pid of one of them while it runs. */
  pid(name: 'server' | 'worker'): number | undefined;
}

/**
 * Brings the site up on a running stack: migrates, builds the web app, seeds the demo, starts server and
 * worker, waits until both are ready (`/readyz`) and keeps them running.
 *
 * @throws LauncherError `port-in-use`, `program-failed` or `store-failed` (with last log lines). Neither server
 *   nor worker keeps running then.
 */
export async function startSite(stack: Stack, options: SiteOptions): Promise<Site> {
  const { steps, port, host } = options;
  const address = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  const at = (port: number): string => `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
  const url = at(port);
  const { workerPort } = options;
  if (!(await isPortFree(port))) throw portInUse('The web app', port, 'SPARKROOM_PORT');
  if (workerPort !== undefined && !(await isPortFree(workerPort)))
    throw portInUse('The worker', workerPort, 'SPARKROOM_WORKER_PORT');
  const env: Record<string, string> = {
    ...stack.env,
    ...options.env,
    SPARKROOM_PORT: String(port),
    SPARKROOM_HOST: host,
    SPARKROOM_URL: options.publicUrl || url,
  };

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

  const ports = { server: port, worker: 0 };
  // Once they have been ready they need only run: ending one because a store is away would help nobody.
  let page = '/readyz';
  const manage = (name: 'server' | 'worker'): ManagedProcess =>
    new ManagedProcess({
      name,
      label: name === 'server' ? 'The server' : 'The worker',
      runFolder: join(stack.dir, 'run'),
      logFolder: join(stack.dir, 'logs'),
      cwd: repository,
      command: () => ({ file: process.execPath, args: [join(repository, programs[name])], env }),
      isReady: async (pid) => mayHoldPort(pid, ports[name]) && (await answersHttp(at(ports[name]) + page)),
      readyMs: 60_000,
      stopMs: 20_000,
      log: (line) => steps.log(line),
    });
  const managed = { server: manage('server'), worker: manage('worker') };
  async function startWorker(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      ports.worker = workerPort ?? (await nextFreePort(usualWorkerPort));
      env.SPARKROOM_WORKER_PORT = String(ports.worker);
      try {
        return await managed.worker.start();
      } catch (error) {
        // Another site may have taken the port between our look and the worker's start.
        if (workerPort !== undefined || attempt > 5 || (await isPortFree(ports.worker))) throw error;
      }
    }
  }
  const stop = async (): Promise<void> => {
    await Promise.all([managed.server.stop(), managed.worker.stop()]);
  };
  const starting = [managed.server.start(), startWorker()];
  try {
    await steps.run('starting server and worker', () => Promise.all(starting));
  } catch (error) {
    await stop();
    // One that was just about to start when the other failed.
    await Promise.allSettled(starting);
    await stop();
    throw error;
  }
  page = '/healthz';
  steps.log(`health pages: ${url}/readyz (server), ${at(ports.worker)}/readyz (worker)`);
  stack.tell({ url, env });
  return { url, env, stop, pid: (name) => managed[name].pid };
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
