import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isPortFree, nextFreePort } from '../src/ports.ts';
import { bareEnv, isAlive, type Launcher, launch, ports, temporaryFolder, until } from './helpers.ts';

/** `npm run stack` in a folder of its own. */
async function stackCommand(
  base: number,
): Promise<{ env: Record<string, string>; dir: string; ports: number[] }> {
  const dir = temporaryFolder();
  const own = await ports(base);
  const env = bareEnv({ SPARKROOM_DIR: dir });
  for (const [name, port] of Object.entries(own)) env[`SPARKROOM_${name.toUpperCase()}_PORT`] = String(port);
  return { env, dir, ports: Object.values(own) };
}

async function ready(launcher: Launcher): Promise<void> {
  await until(
    'the stores are ready',
    () => {
      if (launcher.child.exitCode !== null) throw new Error(`the launcher has ended:\n${launcher.output()}`);
      return launcher.output().includes('the stores are ready');
    },
    30_000,
  );
}

function storePids(dir: string): number[] {
  return ['mysql', 'cloudant', 'redis', 'nats'].map(
    (name) => JSON.parse(readFileSync(join(dir, 'run', `${name}.pid`), 'utf8')).pid,
  );
}

function launcherPid(dir: string): number {
  return JSON.parse(readFileSync(join(dir, 'run', 'launcher.json'), 'utf8')).pid;
}

test('stack prints addresses; a second one says it is running and prints the same; Ctrl-C stops all of it', async () => {
  const { env, dir, ports: used } = await stackCommand(24_410);
  const first = launch(['stack'], env);
  await ready(first);
  const addresses = first
    .output()
    .split('\n')
    .filter((line) => line.startsWith('SPARKROOM_'));
  // No secret among them.
  expect(addresses.map((line) => line.split('=')[0])).toEqual([
    'SPARKROOM_MYSQL_URL',
    'SPARKROOM_CLOUDANT_URL',
    'SPARKROOM_REDIS_URL',
    'SPARKROOM_NATS_URL',
  ]);
  const pids = storePids(dir);

  const second = launch(['stack'], env);
  expect((await second.exit).code).toBe(0);
  expect(second.output()).toContain(`already running (pid ${launcherPid(dir)})`);
  for (const line of addresses) expect(second.output()).toContain(line);

  const third = launch(['start', '--reset'], env);
  expect((await third.exit).code).toBe(1);
  expect(third.output()).toContain('stop it first');
  expect(pids.every(isAlive)).toBe(true);

  first.child.kill('SIGINT');
  expect((await first.exit).code).toBe(0);
  expect(first.output()).toContain('stopped');
  expect(pids.some(isAlive)).toBe(false);
  for (const port of used) expect(await isPortFree(port)).toBe(true);
});

test('a launcher killed by -9: the next start finds what it left, stops it and starts', async () => {
  const { env, dir } = await stackCommand(24_420);
  const first = launch(['stack'], env);
  await ready(first);
  const orphans = storePids(dir);
  process.kill(launcherPid(dir), 'SIGKILL');
  await first.exit;
  expect(orphans.every(isAlive)).toBe(true);

  const second = launch(['stack'], env);
  await ready(second);
  for (const pid of orphans) {
    expect(second.output()).toContain(`left over from an earlier run (pid ${pid})`);
    await until('the orphan is gone', () => !isAlive(pid));
  }
});

test('the first Ctrl-C drains, the second kills at once', async () => {
  const { env, dir } = await stackCommand(24_430);
  const launcher = launch(['stack'], env);
  await ready(launcher);
  const pids = storePids(dir);
  const redis = pids[2] ?? 0;
  // A frozen store hears no SIGTERM: draining takes long.
  process.kill(redis, 'SIGSTOP');
  launcher.child.kill('SIGINT');
  await until('it drains', () => launcher.output().includes('stopping; once more stops at once'));
  // As npm does: the same Ctrl-C once more, a moment later. It must not count as a second one.
  await new Promise((wake) => setTimeout(wake, 100));
  launcher.child.kill('SIGINT');
  await until('the others are gone', () => pids.filter(isAlive).length === 1);
  // Later than what still counts as the same Ctrl-C.
  await new Promise((wake) => setTimeout(wake, 600));
  expect(launcher.output()).not.toContain('stopped at once');
  expect(launcher.child.exitCode).toBe(null);
  expect(isAlive(redis)).toBe(true);
  const asked = performance.now();
  launcher.child.kill('SIGINT');
  expect((await launcher.exit).code).toBe(130);
  expect(performance.now() - asked).toBeLessThan(2_000);
  await until('redis is gone', () => !isAlive(redis));
});

test('SIGTERM stops in order too', async () => {
  const { env, dir } = await stackCommand(24_440);
  const launcher = launch(['stack'], env);
  await ready(launcher);
  const pids = storePids(dir);
  launcher.child.kill('SIGTERM');
  expect((await launcher.exit).code).toBe(0);
  expect(pids.some(isAlive)).toBe(false);
});

test('--reset starts over', async () => {
  const { env, dir } = await stackCommand(24_450);
  mkdirSync(join(dir, 'data', 'redis'), { recursive: true });
  writeFileSync(join(dir, 'data', 'redis', 'old'), '');
  const launcher = launch(['stack', '--reset'], env);
  await ready(launcher);
  expect(launcher.output()).toContain(`deleting ${join(dir, 'data')}`);
});

test('start ends with a working site; a server that is killed comes back; a second start names the address', async () => {
  const { env, dir } = await stackCommand(24_460);
  const port = await nextFreePort(24_470);
  env.SPARKROOM_PORT = String(port);
  const workerPort = await nextFreePort(port + 1);
  env.SPARKROOM_WORKER_PORT = String(workerPort);
  const launcher = launch(['start'], env);
  await until(
    'the site is ready',
    () => {
      if (launcher.child.exitCode !== null) throw new Error(`the launcher has ended:\n${launcher.output()}`);
      return launcher.output().includes('Sparkroom is ready');
    },
    100_000,
  );
  for (const shown of [
    `http://127.0.0.1:${port}`,
    'admin@sparkroom.example',
    'sparkroom-demo',
    join(dir, 'data'),
    join(dir, 'logs'),
    'Ctrl-C',
    'npm start -- --reset',
  ]) {
    expect(launcher.output()).toContain(shown);
  }
  // "Ready" is said when both are.
  for (const program of [port, workerPort])
    expect((await fetch(`http://127.0.0.1:${program}/readyz`)).status).toBe(200);
  const answers = async (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
  const pid: number = JSON.parse(readFileSync(join(dir, 'run', 'server.pid'), 'utf8')).pid;
  process.kill(pid, 'SIGKILL');
  await until('the server is back', () => launcher.output().includes('The server is running again'));
  expect(launcher.output()).toContain('The server ended by itself (by SIGKILL); starting it again');
  await until('it is ready for work again', answers);

  const second = launch(['start'], env);
  expect((await second.exit).code).toBe(0);
  expect(second.output()).toContain(
    `already running from this folder (pid ${launcherPid(dir)}): http://127.0.0.1:${port}`,
  );

  const pids = [...storePids(dir), JSON.parse(readFileSync(join(dir, 'run', 'worker.pid'), 'utf8')).pid];
  launcher.child.kill('SIGINT');
  expect((await launcher.exit).code).toBe(0);
  expect(pids.some(isAlive)).toBe(false);
}, 150_000);

test('unknown commands, options and measurements are refused with the list of what there is', async () => {
  const env = bareEnv({ SPARKROOM_DIR: temporaryFolder(), SPARKROOM_WORKER_PORT: 'x' });
  for (const [args, message] of [
    [['strat'], 'There is no command "strat".'],
    [['start', '--rest'], "Unknown option '--rest'"],
    [['start'], 'SPARKROOM_WORKER_PORT must be a port number from 1 to 65535, but is "x".'],
    [['perf', '../x'], 'Which measurement?'],
    [['perf', 'no-such'], 'There is no perf/no-such.ts'],
  ] as const) {
    const launcher = launch([...args], env);
    expect((await launcher.exit).code).toBe(1);
    expect(launcher.output()).toContain(message);
    expect(launcher.output()).not.toMatch(/^\s+at /m);
  }
});
