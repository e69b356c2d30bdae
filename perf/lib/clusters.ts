import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort, repository } from './programs.ts';

/** Servers that belong together, each of which can be killed and started again. */
export interface Cluster {
  url: string;
  ports: readonly number[];
  /** SIGKILL, and waits for the end. */
  kill(number: number): Promise<void>;
  start(number: number): Promise<void>;
  stop(): Promise<void>;
}

const configuration = join(repository, 'infra/cluster');

async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = await freePort();
    // Redis talks to its own kind 10,000 above.
    if (port < 55_000) ports.add(port);
  }
  return [...ports];
}

/** Whether something on the port answers `say` (or speaks first) with `expected`. */
function answers(port: number, say: string, expected: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const done = (ok: boolean): void => {
      socket.destroy();
      resolve(ok);
    };
    socket.setTimeout(500, () => done(false));
    socket.once('connect', () => say !== '' && socket.write(say));
    socket.once('data', (data) => done(data.toString().startsWith(expected)));
    socket.once('error', () => done(false));
  });
}

async function started(
  program: string,
  args: string[],
  env: NodeJS.ProcessEnv,
  ready: () => Promise<boolean>,
): Promise<ChildProcess> {
  const child = spawn(program, args, { env, stdio: 'ignore' });
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  for (let tries = 0; tries < 200; tries++) {
    if (failure) throw failure;
    if (await ready()) return child;
    if (child.exitCode !== null) throw new Error(`${program} ended with code ${child.exitCode}`);
    await pause(50);
  }
  child.kill('SIGKILL');
  throw new Error(`${program} did not answer within ten seconds`);
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

function clusterOf(
  url: string,
  ports: number[],
  folder: string,
  run: (number: number) => Promise<ChildProcess>,
): Cluster {
  const children: (ChildProcess | undefined)[] = [];
  return {
    url,
    ports,
    kill: (number) => end(children[number]),
    async start(number) {
      children[number] = await run(number);
    },
    async stop() {
      await Promise.all(children.map(end));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Three NATS servers by infra/cluster/nats.conf, on free ports of 127.0.0.1, their data in `folder`. */
export async function startNatsCluster(folder: string): Promise<Cluster> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const password = randomBytes(12).toString('hex');
  await copyFile(join(configuration, 'nats.conf'), join(folder, 'nats.conf'));
  await writeFile(
    join(folder, 'users.conf'),
    `users = ${JSON.stringify([{ user: 'sparkroom', password }])}\n`,
  );
  const ports = await freePorts(3);
  const routes = await freePorts(3);
  const url = ports.map((port) => `nats://sparkroom:${password}@127.0.0.1:${port}`).join(',');
  const cluster = clusterOf(url, ports, folder, (number) =>
    started(
      'nats-server',
      ['-c', join(folder, 'nats.conf')],
      {
        ...process.env,
        SPARKROOM_NATS_NAME: `n${number + 1}`,
        SPARKROOM_NATS_LISTEN: `"127.0.0.1:${ports[number]}"`,
        SPARKROOM_NATS_DATA: `"${join(folder, `n${number + 1}`)}"`,
        SPARKROOM_NATS_ROUTE: `"127.0.0.1:${routes[number]}"`,
        SPARKROOM_NATS_ROUTE_PASSWORD: `"${password}"`,
        ...Object.fromEntries(
          routes.map((port, i) => [
            `SPARKROOM_NATS_ROUTE_${i + 1}`,
            `"nats://route:${password}@127.0.0.1:${port}"`,
          ]),
        ),
      },
      () => answers(ports[number] ?? 0, '', 'INFO '),
    ),
  );
  for (const number of [0, 1, 2]) await cluster.start(number);
  return cluster;
}

/** Six Redis servers by infra/cluster/redis.conf: numbers 0 to 2 begin as masters. */
export async function startRedisCluster(folder: string): Promise<Cluster> {
  await rm(folder, { recursive: true, force: true });
  const ports = await freePorts(6);
  const url = `redis-cluster://${ports.map((port) => `127.0.0.1:${port}`).join(',')}`;
  const cluster = clusterOf(url, ports, folder, async (number) => {
    const dir = join(folder, `r${number + 1}`);
    await mkdir(dir, { recursive: true });
    const args = [join(configuration, 'redis.conf'), '--bind', '127.0.0.1', '--dir', dir];
    return await started('redis-server', [...args, '--port', String(ports[number])], process.env, () =>
      answers(ports[number] ?? 0, 'PING\r\n', '+PONG'),
    );
  });
  for (const number of ports.keys()) await cluster.start(number);
  const nodes = ports.map((port) => `127.0.0.1:${port}`);
  await promisify(execFile)('redis-cli', [
    '--cluster',
    'create',
    ...nodes,
    '--cluster-replicas',
    '1',
    '--cluster-yes',
  ]);
  for (let tries = 0; tries < 200; tries++) {
    const { stdout } = await promisify(execFile)('redis-cli', ['-p', String(ports[0]), 'cluster', 'info']);
    if (stdout.includes('cluster_state:ok') && stdout.includes('cluster_slots_ok:16384')) return cluster;
    await pause(50);
  }
  await cluster.stop();
  throw new Error('The Redis cluster did not form within ten seconds');
}
