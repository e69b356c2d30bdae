import { join } from 'node:path';
import { type Stack, startStack } from '@sparkroom/local';
import { freePort, type Program, repository, runToEnd, startProgram } from './programs.ts';

export interface ArticleSite {
  url: string;
  /** Environment of server and worker: addresses of the stores, and the secret that signs sessions. */
  env: NodeJS.ProcessEnv;
  stack: Stack;
  server: Program;
  worker: Program;
  /** What each store is, with its version. */
  stores: Record<string, string>;
  stop(): Promise<void>;
}

/**
 * Brings up a site with the article's data in `.sparkroom/perf`, on stores of its own whose data is kept between runs;
 * the first run migrates and seeds (about a minute). One server, one worker, on free ports of 127.0.0.1.
 * @param log hears what is being done
 * @param signal ends the start early
 * @param more environment for server and worker
 * @throws Error, LauncherError with a message for the person at the terminal; nothing keeps running then
 */
export async function startArticleSite(
  log: (line: string) => void,
  signal: AbortSignal,
  more: Record<string, string> = {},
): Promise<ArticleSite> {
  const dir = join(process.env.SPARKROOM_DIR || join(repository, '.sparkroom'), 'perf');
  const stores: Record<string, string> = {};
  // Never the site that may be running: a measurement wants its own data and nobody else's load.
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^SPARKROOM_(?!DIR$|PATH_ONLY$)/.test(name)),
  );
  const stack = await startStack({
    dir,
    ports: { mysql: 33_306, cloudant: 35_984, redis: 36_379, nats: 34_222 },
    nextFreePort: true,
    signal,
    env: clean,
    log: (line) => {
      const [, store, label] = /^(\w+): (.+) ready on port/.exec(line) ?? [];
      if (store && label) stores[store] = label;
      log(line);
    },
  });
  const started: Program[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((program) => program.stop()));
    await stack.stop();
  };
  try {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env = {
      ...clean,
      ...stack.env,
      SPARKROOM_PORT: String(port),
      SPARKROOM_HOST: '127.0.0.1',
      SPARKROOM_URL: url,
      SPARKROOM_WORKER_PORT: String(await freePort()),
      // All virtual users come from one address; the limit for one is not what is measured.
      SPARKROOM_REQUESTS_PER_MINUTE: '10000000',
      SPARKROOM_LOG_LEVEL: 'warn',
      ...more,
    };
    log('migrating');
    await runToEnd('apps/server/src/migrate.ts', [], env);
    signal.throwIfAborted();
    log("the article's data");
    await runToEnd('apps/server/src/seed/main.ts', ['--scale', 'article'], env);
    signal.throwIfAborted();
    log('starting server and worker');
    const workerUrl = `http://127.0.0.1:${env.SPARKROOM_WORKER_PORT}/healthz`;
    const server = await startProgram(
      'apps/server/src/main.ts',
      env,
      `${url}/healthz`,
      join(dir, 'logs', 'server.log'),
    );
    started.push(server);
    const worker = await startProgram(
      'apps/worker/src/main.ts',
      env,
      workerUrl,
      join(dir, 'logs', 'worker.log'),
    );
    started.push(worker);
    return { url, env, stack, server, worker, stores, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
