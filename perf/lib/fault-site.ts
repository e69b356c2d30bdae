import { join } from 'node:path';
import { type Stack, startStack } from '@sparkroom/local';
import { freePort, type Program, repository, runToEnd, startProgram } from './programs.ts';

/** A program of ours that can be killed, frozen and started again on its old port. */
export interface Member {
  readonly name: string;
  /** @param more environment, for this time only */
  start(more?: NodeJS.ProcessEnv): Promise<void>;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>;
  freeze(): void;
  thaw(): void;
  /** SIGTERM: drains. */
  stop(): Promise<void>;
}

export const memberNames = ['server1', 'server2', 'worker1', 'worker2', 'effects'] as const;
export type MemberName = (typeof memberNames)[number];

export interface FaultSite {
  /** Two servers. */
  urls: readonly [string, string];
  env: NodeJS.ProcessEnv;
  dir: string;
  stack: Stack;
  members: Readonly<Record<MemberName, Member>>;
  stop(): Promise<void>;
}

const files: Readonly<Record<MemberName, string>> = {
  server1: 'apps/server/src/main.ts',
  server2: 'apps/server/src/main.ts',
  worker1: 'apps/worker/src/main.ts',
  worker2: 'apps/worker/src/main.ts',
  effects: 'perf/lib/effect-process.ts',
};

/**
 * Brings up two servers, two workers and a consumer that counts effects, on empty stores of their own.
 * @param name folder in `.sparkroom`, emptied
 * @param forWorkers environment of the workers, made when the stores' addresses are known
 * @throws Error, LauncherError with a message for the person at the terminal; nothing keeps running then
 */
export async function startFaultSite(
  name: string,
  signal: AbortSignal,
  forWorkers: (env: NodeJS.ProcessEnv) => Promise<NodeJS.ProcessEnv> = async () => ({}),
): Promise<FaultSite> {
  const dir = join(process.env.SPARKROOM_DIR || join(repository, '.sparkroom'), name);
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([key]) => !/^SPARKROOM_(?!DIR$|PATH_ONLY$)/.test(key)),
  );
  const stack = await startStack({
    dir,
    ports: { mysql: 53_306, cloudant: 55_984, redis: 56_379, nats: 54_222 },
    nextFreePort: true,
    reset: true,
    signal,
    env: clean,
    log: () => {},
  });
  const members = {} as Record<MemberName, Member>;
  const stop = async (): Promise<void> => {
    const all = Object.values(members);
    for (const member of all) member.thaw();
    await Promise.all(all.map((member) => member.stop()));
    await stack.stop();
  };
  try {
    const env: NodeJS.ProcessEnv = {
      ...clean,
      ...stack.env,
      SPARKROOM_HOST: '127.0.0.1',
      SPARKROOM_REQUESTS_PER_MINUTE: '10000000',
      SPARKROOM_LOG_LEVEL: 'warn',
    };
    await runToEnd('apps/server/src/migrate.ts', [], env);
    const workers = await forWorkers(env);
    let first = '';
    const urls: string[] = [];
    for (const key of memberNames) {
      signal.throwIfAborted();
      const port = String(await freePort());
      const url = `http://127.0.0.1:${port}`;
      const isServer = files[key].includes('server');
      if (isServer) urls.push(url);
      first ||= url;
      members[key] = memberOf(key, dir, url, {
        ...env,
        // Both servers are known by one address, as behind a balancer.
        ...(isServer ? { SPARKROOM_PORT: port, SPARKROOM_URL: first } : { SPARKROOM_WORKER_PORT: port }),
        ...(key.startsWith('worker') ? workers : {}),
      });
      await members[key].start();
    }
    return { urls: [urls[0] ?? '', urls[1] ?? ''], env, dir, stack, members, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function memberOf(name: MemberName, dir: string, url: string, env: NodeJS.ProcessEnv): Member {
  let program: Program | undefined;
  let starts = 0;
  const send = (signal: NodeJS.Signals): void => {
    try {
      if (program) process.kill(program.pid, signal);
    } catch {
      // Gone already.
    }
  };
  const ended = async (): Promise<void> => {
    await program?.stop();
    program = undefined;
  };
  return {
    name,
    async start(more = {}) {
      const log = join(dir, 'logs', `${name}.${++starts}.log`);
      program = await startProgram(files[name], { ...env, ...more }, `${url}/healthz`, log);
    },
    async kill() {
      send('SIGKILL');
      await ended();
    },
    freeze: () => send('SIGSTOP'),
    thaw: () => send('SIGCONT'),
    stop: ended,
  };
}
