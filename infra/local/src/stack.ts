import { readdir, rm, statfs } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { sureFolder } from './folders.ts';
import { claim, type LauncherLock } from './launcher-lock.ts';
import { ManagedProcess } from './managed-process.ts';
import { missingPrograms } from './missing-programs.ts';
import { isPortFree, nextFreePort, portFrom, portInUse } from './ports.ts';
import { endProcess, mayHoldPort, portHolder, workingFolder } from './process-identity.ts';
import { readSecrets } from './secrets.ts';
import { cloudantStore } from './stores/cloudant.ts';
import { mysqlStore } from './stores/mysql.ts';
import { natsStore } from './stores/nats.ts';
import { redisStore } from './stores/redis.ts';
import { type Store, type StoreName, type StoreSite, storeNames } from './stores/store.ts';
import { diskFull, LauncherError, saysDiskFull } from './trouble.ts';

/** The port of each store unless its variable says otherwise. */
export const defaultPorts: Readonly<Record<StoreName, number>> = {
  mysql: 13306,
  cloudant: 15984,
  redis: 16379,
  nats: 14222,
};

const urlVariables: Readonly<Record<StoreName, string>> = {
  mysql: 'SPARKROOM_MYSQL_URL',
  cloudant: 'SPARKROOM_CLOUDANT_URL',
  redis: 'SPARKROOM_REDIS_URL',
  nats: 'SPARKROOM_NATS_URL',
};

const portVariable = (name: StoreName): string => `SPARKROOM_${name.toUpperCase()}_PORT`;

/** Free space a first start wants for the stores' empty files, and a later one to be able to work at all. */
const spaceFirst = 400_000_000;
const spaceLater = 50_000_000;

/** How long a store that is started again waits for its port, which somebody may hold for a moment. */
const patienceMs = 5_000;

export interface StackOptions {
  /** Folder for `data/`, `logs/`, `run/` and `secrets.json`. Made when missing. */
  dir: string;
  /** Ports to use instead of `SPARKROOM_<STORE>_PORT` and the defaults. */
  ports?: Partial<Record<StoreName, number>>;
  /** Take the next free port when one is in use, instead of failing. */
  nextFreePort?: boolean;
  /** Only these stores. Default: all four. */
  only?: readonly StoreName[];
  /** Hears a line about every step. Default: nobody. */
  log?: (line: string) => void;
  /** Empties `data/` first. */
  reset?: boolean;
  /** Whether missing servers may be installed by apt when we are root. Default true. */
  install?: boolean;
  /** False: commits are not synced to the disk. For tests. Default true. */
  durable?: boolean;
  /** Prefix of folders with prepared empty databases, shared by many short-lived stacks. */
  template?: string;
  /** Where own servers are named. Default `process.env`. */
  env?: NodeJS.ProcessEnv;
  /** Ends the start early: what has been started is stopped again, and the signal's reason is thrown. */
  signal?: AbortSignal;
  /** For tests: free bytes of the file system that holds a folder. Default: asks the system. */
  freeBytes?: (folder: string) => Promise<number>;
}

export interface Stack {
  /** The folder it lives in. */
  readonly dir: string;
  readonly mysqlUrl: string;
  readonly cloudantUrl: string;
  readonly redisUrl: string;
  readonly natsUrl: string;
  /** The same as environment variables, with `SPARKROOM_AUTH_SECRET`. Only what was asked for by `only`. */
  readonly env: Readonly<Record<string, string>>;
  /** Which stores are somebody's own servers, never started, stopped or reset by us. */
  readonly foreign: readonly StoreName[];
  /** Stops every store in order and gives the folder free. May be called twice. */
  stop(): Promise<void>;
  /** Kills every store this instant. */
  stopNow(): void;
  /**
   * Sends a signal to one store (default SIGKILL) and waits for its end; it stays down until `restart`.
   * SIGSTOP and SIGCONT only freeze and thaw it.
   */
  kill(name: StoreName, signal?: NodeJS.Signals): Promise<void>;
  /**
   * Starts a killed (or stops and starts a running) store on its old port with its old data.
   *
   * @throws LauncherError `port-in-use` when somebody else has taken the port meanwhile and keeps it for 5 seconds.
   */
  restart(name: StoreName): Promise<void>;
  /** Pid of a store, `undefined` while it is down or when it is a foreign one. */
  pid(name: StoreName): number | undefined;
  /** Path of a store's log file. */
  logFile(name: StoreName): string;
  /** Adds to what a second launcher in this folder is told. */
  tell(news: { url?: string; env?: Record<string, string> }): void;
}

/**
 * Starts the stores under one folder, on 127.0.0.1, and waits until all of them answer. A store whose
 * `SPARKROOM_<STORE>_URL` is set is used as it is and never touched. What an earlier launcher that was
 * killed left running is found by pid file and stopped first. A store that dies is started again.
 *
 * @throws LauncherError with a message for the person at the terminal: `already-running`, `port-in-use`,
 *   `disk-full`, `missing-program`, `bad-setting`, `store-failed`. Nothing keeps running then.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const dir = resolve(options.dir);
  try {
    await sureFolder(join(dir, 'run'));
    await sureFolder(join(dir, 'logs'));
    const lock = claim(join(dir, 'run', 'launcher.json'));
    try {
      return await startClaimed(options, dir, lock);
    } catch (error) {
      lock.release();
      throw error;
    }
  } catch (error) {
    if (!(error instanceof LauncherError) && saysDiskFull(error))
      throw diskFull(dir, 'a file could not be written');
    throw error;
  }
}

async function startClaimed(options: StackOptions, dir: string, lock: LauncherLock): Promise<Stack> {
  const env = options.env ?? process.env;
  const log = options.log ?? (() => {});
  const wanted = storeNames.filter((name) => options.only?.includes(name) ?? true);
  const foreign = wanted.filter((name) => env[urlVariables[name]]);
  const own = wanted.filter((name) => !foreign.includes(name));
  for (const name of foreign) log(`${name}: using the server of ${urlVariables[name]}`);

  const dataFolder = join(dir, 'data');
  await stopLeftovers(dir, log);
  if (options.reset) {
    log(`deleting ${dataFolder}`);
    await rm(dataFolder, { recursive: true, force: true });
  }
  const isFirst = (await readdir(dataFolder).catch(() => [])).length === 0;
  await sureFolder(dataFolder);
  if (own.length > 0)
    await checkSpace(dataFolder, isFirst ? spaceFirst : spaceLater, options.freeBytes ?? freeBytes);

  const stores = await findStores(own, dir, options, env, log);
  options.signal?.throwIfAborted();
  const secrets = await readSecrets(join(dir, 'secrets.json'));
  const urls: Partial<Record<StoreName, string>> = Object.fromEntries(
    foreign.map((name) => [name, env[urlVariables[name]] ?? '']),
  );
  const processes = new Map<StoreName, ManagedProcess>();

  async function startOne(store: Store): Promise<void> {
    const started = performance.now();
    const { name } = store;
    const say = (line: string): void => log(`${name}: ${line}`);
    const passwords: Partial<Record<StoreName, string>> = {
      mysql: secrets.mysqlPassword,
      nats: secrets.natsPassword,
    };
    const password = passwords[name] ?? secrets.cloudantPassword;
    const basePort = options.ports?.[name] ?? portFrom(env, portVariable(name), defaultPorts[name]);
    const site: StoreSite = {
      data: join(dataFolder, name),
      port: basePort,
      password,
      durable: options.durable ?? true,
    };
    await store.prepare(site, say);
    options.signal?.throwIfAborted();
    const managed = new ManagedProcess({
      name,
      label: store.label,
      runFolder: join(dir, 'run'),
      logFolder: join(dir, 'logs'),
      cwd: site.data,
      command: () => store.command(site),
      isReady: async (pid) => (await store.isReady(site)) && mayHoldPort(pid, site.port),
      readyMs: 60_000,
      stopMs: store.stopMs,
      log: (line) => say(line),
    });
    for (let attempt = 1; ; attempt++) {
      if (options.nextFreePort) site.port = await nextFreePort(site.port);
      else await freePort(site.port, dir, store.label, portVariable(name), say);
      await store.prepare(site, say);
      processes.set(name, managed);
      try {
        await managed.start();
        options.signal?.throwIfAborted();
        break;
      } catch (error) {
        // Another stack may have taken the port between our look and the server's start.
        if (options.signal?.aborted || !options.nextFreePort || attempt > 5 || (await isPortFree(site.port)))
          throw error;
      }
    }
    urls[name] = store.url(site);
    say(`${store.label} ready on port ${site.port} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
  }

  let stopping: Promise<void> | undefined;
  function stop(): Promise<void> {
    stopping ??= Promise.all([...processes.values()].map((managed) => managed.stop())).then(() =>
      lock.release(),
    );
    return stopping;
  }

  const results = await Promise.allSettled(stores.map(startOne));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    await stop();
    throw failed.reason;
  }

  const stackEnv: Record<string, string> = {
    SPARKROOM_AUTH_SECRET: env.SPARKROOM_AUTH_SECRET || secrets.authSecret,
  };
  for (const name of wanted) stackEnv[urlVariables[name]] = urls[name] ?? '';
  if (env.SPARKROOM_CLOUDANT_IAM_KEY) stackEnv.SPARKROOM_CLOUDANT_IAM_KEY = env.SPARKROOM_CLOUDANT_IAM_KEY;
  lock.tell({ env: stackEnv });

  function managedOf(name: StoreName): ManagedProcess {
    const managed = processes.get(name);
    if (managed === undefined) throw new Error(`${name} is not a store of this stack`);
    return managed;
  }

  return {
    dir,
    mysqlUrl: urls.mysql ?? '',
    cloudantUrl: urls.cloudant ?? '',
    redisUrl: urls.redis ?? '',
    natsUrl: urls.nats ?? '',
    env: stackEnv,
    foreign,
    stop,
    stopNow() {
      for (const managed of processes.values()) managed.killNow();
      lock.release();
    },
    kill: (name, signal = 'SIGKILL') => managedOf(name).kill(signal),
    async restart(name) {
      const managed = managedOf(name);
      await managed.stop();
      const port = Number(new URL(urls[name] ?? '').port);
      const deadline = Date.now() + patienceMs;
      while (!(await isPortFree(port))) {
        if (Date.now() > deadline) throw portInUse(managed.label, port, portVariable(name));
        await new Promise((wake) => setTimeout(wake, 50));
      }
      await managed.start();
    },
    pid: (name) => processes.get(name)?.pid,
    logFile: (name) => managedOf(name).logFile,
    tell: (news) => lock.tell(news),
  };
}

/** Stops whatever the pid files of this folder still name. */
export async function stopLeftovers(dir: string, log: (line: string) => void): Promise<void> {
  const runFolder = join(dir, 'run');
  const names = (await readdir(runFolder))
    .filter((file) => file.endsWith('.pid'))
    .map((file) => file.slice(0, -4));
  // The programs that use the stores go before the stores.
  const isStore = (name: string): boolean => storeNames.some((store) => store === name);
  for (const group of [names.filter((name) => !isStore(name)), names.filter(isStore)]) {
    await Promise.all(
      group.map((name) =>
        new ManagedProcess({
          name,
          label: name,
          runFolder,
          logFolder: join(dir, 'logs'),
          cwd: dir,
          command: () => ({ file: '', args: [] }),
          isReady: async () => false,
          readyMs: 0,
          stopMs: 20_000,
          log,
        }).stopLeftover(),
      ),
    );
  }
}

/**
 * Makes sure that a port is free. A process of ours whose pid file has been lost is known by working inside
 * our folder, and stopped; anybody else is left alone.
 */
async function freePort(
  port: number,
  dir: string,
  label: string,
  variable: string,
  log: (line: string) => void,
): Promise<void> {
  if (await isPortFree(port)) return;
  const holder = portHolder(port);
  if (holder !== undefined && workingFolder(holder.pid)?.startsWith(join(dir, 'data') + sep)) {
    log(`port ${port} is held by a server left over in ${dir} (pid ${holder.pid}); stopping it`);
    await endProcess(holder, 20_000);
    if (await isPortFree(port)) return;
  }
  throw portInUse(label, port, variable);
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

async function checkSpace(
  folder: string,
  wanted: number,
  freeBytes: (folder: string) => Promise<number>,
): Promise<void> {
  const free = await freeBytes(folder);
  if (free < wanted) {
    const mb = (bytes: number): string => `${Math.floor(bytes / 1_000_000)} MB`;
    throw diskFull(folder, `${mb(free)} free, the stores need ${mb(wanted)}`);
  }
}

async function findStores(
  own: readonly StoreName[],
  dir: string,
  options: StackOptions,
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<Store[]> {
  const find = (name: StoreName): Promise<Store | undefined> =>
    ({
      mysql: () => mysqlStore(env, options.template),
      cloudant: () => cloudantStore(env, join(dir, 'data', 'cloudant'), log),
      redis: () => redisStore(env),
      nats: () => natsStore(env),
    })[name]();
  let found = await Promise.all(own.map(find));
  const missing = own.filter((_, index) => found[index] === undefined);
  if (missing.length > 0) {
    await missingPrograms(missing, { install: options.install ?? true, env, log });
    found = await Promise.all(own.map(find));
  }
  return found.map((store, index) => {
    if (store !== undefined) return store;
    throw new LauncherError(
      'missing-program',
      `The server for ${own[index]} was installed but cannot be found on PATH.`,
    );
  });
}
