import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { expect, onTestFinished, test } from 'vitest';
import { isPortFree, nextFreePort } from '../src/ports.ts';
import { identifyProcess } from '../src/process-identity.ts';
import { startStack } from '../src/stack.ts';
import { removeDeadRuns } from '../src/test-stack.ts';
import { bareEnv, fakeProgram, isAlive, ports, stackForTest, temporaryFolder, until } from './helpers.ts';

/** Splits a Cloudant URL into what fetch wants: an address, and the credentials as a header. */
function cloudant(url: string): { base: string; headers: Record<string, string> } {
  const { username, password, origin } = new URL(url);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return { base: origin, headers: { authorization, 'content-type': 'application/json' } };
}

test('starts four stores whose data survive kill -9 and restart', async () => {
  const { stack } = await stackForTest({ ports: await ports(24_310) });
  expect(Object.keys(stack.env).sort()).toEqual([
    'SPARKROOM_AUTH_SECRET',
    'SPARKROOM_CLOUDANT_URL',
    'SPARKROOM_MYSQL_URL',
    'SPARKROOM_NATS_URL',
    'SPARKROOM_REDIS_URL',
  ]);
  expect(statSync(join(stack.dir, 'secrets.json')).mode & 0o777).toBe(0o600);

  const { base, headers } = cloudant(stack.cloudantUrl);
  expect((await fetch(`${base}/sparkroom_a`, { method: 'PUT', headers })).status).toBe(201);
  expect((await fetch(`${base}/sparkroom_a/x`, { method: 'PUT', headers, body: '{"n":1}' })).status).toBe(
    201,
  );
  const sql = await createConnection(stack.mysqlUrl);
  await sql.query('CREATE TABLE t (word VARCHAR(20))');
  await sql.query('INSERT INTO t VALUES (?)', ['你好 🎈']);
  await sql.end();

  for (const name of ['mysql', 'cloudant', 'redis', 'nats'] as const) {
    const before = stack.pid(name);
    await stack.kill(name);
    expect(stack.pid(name)).toBeUndefined();
    await stack.restart(name);
    expect(stack.pid(name)).toBeGreaterThan(0);
    expect(stack.pid(name)).not.toBe(before);
  }

  expect(await (await fetch(`${base}/sparkroom_a/x`, { headers })).json()).toMatchObject({ n: 1 });
  const again = await createConnection(stack.mysqlUrl);
  expect((await again.query('SELECT word FROM t'))[0]).toEqual([{ word: '你好 🎈' }]);
  await again.end();
});

test('the MySQL user may do anything in sparkroom%, nothing elsewhere, and root only comes by socket', async () => {
  const { stack } = await stackForTest({ only: ['mysql'], ports: { mysql: 24_320 } });
  const sql = await createConnection(stack.mysqlUrl);
  await sql.query('CREATE DATABASE sparkroom_other_test');
  await expect(sql.query('CREATE DATABASE elsewhere')).rejects.toThrow(/denied/);
  await expect(sql.query('SELECT * FROM mysql.user')).rejects.toThrow(/denied/);
  const [rows] = await sql.query('SELECT @@character_set_server AS c, @@time_zone AS z, @@tmpdir AS t');
  // Servers that share a folder for temporary tables delete each other's when they start.
  expect(rows).toEqual([{ c: 'utf8mb4', z: '+00:00', t: `${stack.dir}/data/mysql-tmp` }]);
  await sql.end();
  const { port } = new URL(stack.mysqlUrl);
  await expect(createConnection({ host: '127.0.0.1', port: Number(port), user: 'root' })).rejects.toThrow(
    /denied|not allowed/,
  );
});

test('the embedded Cloudant wants credentials and survives requests that end in unhandled rejections', async () => {
  const { stack } = await stackForTest({ only: ['cloudant'], ports: { cloudant: 24_330 } });
  const { base, headers } = cloudant(stack.cloudantUrl);
  expect((await fetch(`${base}/_up`)).status).toBe(200);
  for (const [method, path] of [
    ['GET', '/'],
    ['GET', '/_all_dbs'],
    ['PUT', '/sparkroom_b'],
  ] as const) {
    expect((await fetch(base + path, { method })).status, `${method} ${path}`).toBe(401);
  }
  const wrong = { ...headers, authorization: `Basic ${Buffer.from('sparkroom:wrong').toString('base64')}` };
  expect((await fetch(`${base}/_all_dbs`, { headers: wrong })).status).toBe(401);

  const { username: name, password } = new URL(stack.cloudantUrl);
  const refused = await fetch(`${base}/_session`, {
    method: 'POST',
    body: new URLSearchParams({ name, password: 'x' }),
  });
  expect(refused.status).toBe(401);
  const signedIn = await fetch(`${base}/_session`, {
    method: 'POST',
    body: new URLSearchParams({ name, password }),
  });
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  expect((await fetch(`${base}/sparkroom_b`, { method: 'PUT', headers: { cookie } })).status).toBe(201);
  await fetch(`${base}/_session`, { method: 'DELETE', headers: { cookie } });
  expect((await fetch(`${base}/_all_dbs`, { headers: { cookie } })).status).toBe(401);

  const pid = stack.pid('cloudant');
  await fetch(`${base}/sparkroom_b/_changes?filter=_selector`, {
    headers,
    signal: AbortSignal.timeout(2_000),
  }).catch(() => {});
  await fetch(`${base}/sparkroom_b/_changes?filter=a/b&feed=longpoll`, {
    headers,
    signal: AbortSignal.timeout(500),
  }).catch(() => {});
  expect(await (await fetch(`${base}/_all_dbs`, { headers })).json()).toEqual(['sparkroom_b']);
  expect(stack.pid('cloudant')).toBe(pid);
});

test('a store that dies by itself is started again, and this is said', async () => {
  const { stack, said } = await stackForTest({ only: ['redis'], ports: { redis: 24_340 } });
  const before = stack.pid('redis') ?? 0;
  process.kill(before, 'SIGKILL');
  await until('redis is back', () => said.some((line) => line.includes('is running again')));
  expect(said.join('\n')).toMatch(/Redis .* ended by itself \(by SIGKILL\); starting it again/);
  expect(stack.pid('redis')).not.toBe(before);
});

test('a frozen store can be thawed', async () => {
  const { stack } = await stackForTest({ only: ['redis'], ports: { redis: 24_345 } });
  const pid = stack.pid('redis') ?? 0;
  const state = (): string => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] ?? '';
  await stack.kill('redis', 'SIGSTOP');
  await until('stopped', () => state() === 'T');
  await stack.kill('redis', 'SIGCONT');
  await until('running', () => state() === 'S');
});

test('a store whose port somebody else has taken while it was killed waits for it, and names who keeps it', async () => {
  const { stack } = await stackForTest({ only: ['redis'], ports: { redis: 24_347 } });
  const port = Number(new URL(stack.redisUrl).port);
  await stack.kill('redis');
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void holder.close());
  const refused = stack.restart('redis');
  await expect(refused).rejects.toMatchObject({ code: 'port-in-use' });
  await expect(refused).rejects.toThrow(new RegExp(`needs port ${port}, but pid ${process.pid} `));

  const restarted = stack.restart('redis');
  expect(stack.pid('redis')).toBeUndefined();
  await new Promise((resolve) => holder.close(resolve));
  await restarted;
  expect(stack.pid('redis')).toBeGreaterThan(0);
});

test('a pid file whose pid now belongs to a foreign process: that one is left alone', async () => {
  const dir = temporaryFolder();
  const foreign = idleProcess(dir);
  mkdirSync(join(dir, 'run'));
  writeFileSync(join(dir, 'run', 'redis.pid'), JSON.stringify({ pid: foreign.pid, start: 'another boot/1' }));
  writeFileSync(
    join(dir, 'run', 'launcher.json'),
    JSON.stringify({ pid: foreign.pid, start: 'another boot/1' }),
  );
  writeFileSync(join(dir, 'run', 'nats.pid'), 'not JSON at all');
  const { said } = await stackForTest({ dir, only: ['redis'], ports: { redis: 24_350 } });
  expect(said.join('\n')).toContain(`pid ${foreign.pid} of an earlier redis now belongs to another program`);
  expect(isAlive(foreign.pid ?? 0)).toBe(true);
});

test('a process that a pid file rightly names is stopped first', async () => {
  const dir = temporaryFolder();
  const leftover = idleProcess(dir);
  mkdirSync(join(dir, 'run'));
  await until('it runs', () => identifyProcess(leftover.pid ?? 0)?.command.includes('sleep') ?? false);
  writeFileSync(join(dir, 'run', 'worker.pid'), JSON.stringify(identifyProcess(leftover.pid ?? 0)));
  const { said } = await stackForTest({ dir, only: ['redis'], ports: { redis: 24_355 } });
  expect(said.join('\n')).toContain(
    `worker is left over from an earlier run (pid ${leftover.pid}); stopping it`,
  );
  await until('it is gone', () => leftover.signalCode === 'SIGTERM');
});

test('a server of ours that holds the port but has lost its pid file is found and stopped', async () => {
  const dir = temporaryFolder();
  const port = await nextFreePort(24_360);
  mkdirSync(join(dir, 'data', 'redis'), { recursive: true });
  const lost = spawn(
    'redis-server',
    ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', join(dir, 'data', 'redis')],
    {
      stdio: 'ignore',
      env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
    },
  );
  onTestFinished(() => void lost.kill('SIGKILL'));
  await until('it listens', async () => !(await isPortFree(port)));
  const { said } = await stackForTest({ dir, only: ['redis'], ports: { redis: port }, nextFreePort: false });
  expect(said.join('\n')).toContain(`port ${port} is held by a server left over in ${dir} (pid ${lost.pid})`);
});

test('a port held by somebody else: the message names port, holder and variable, and nothing keeps running', async () => {
  const port = await nextFreePort(24_370);
  const foreign = createServer().listen(port, '127.0.0.1');
  onTestFinished(() => void foreign.close());
  const dir = temporaryFolder();
  const { nats } = await ports(24_372);
  const start = startStack({ dir, only: ['redis', 'nats'], ports: { redis: port, nats }, env: bareEnv() });
  await expect(start).rejects.toMatchObject({ code: 'port-in-use' });
  await expect(start).rejects.toThrow(
    new RegExp(`port ${port}, but pid ${process.pid} \\(.+SPARKROOM_REDIS_PORT=${port + 1}`, 's'),
  );
  expect(await isPortFree(nats)).toBe(true);
  expect(existsSync(join(dir, 'run', 'launcher.json'))).toBe(false);
});

test('a bad port variable is refused with its name', async () => {
  const env = bareEnv({ SPARKROOM_NATS_PORT: '14222x' });
  await expect(startStack({ dir: temporaryFolder(), only: ['nats'], env })).rejects.toThrow(
    'SPARKROOM_NATS_PORT must be a port number from 1 to 65535, but is "14222x".',
  );
});

test('an own server is used and never started, stopped or reset', async () => {
  const { stack: own } = await stackForTest({ only: ['redis'], ports: { redis: 24_380 } });
  const { stack } = await stackForTest({
    only: ['redis', 'nats'],
    reset: true,
    ports: { nats: 24_385 },
    env: bareEnv({ SPARKROOM_REDIS_URL: own.redisUrl }),
  });
  expect(stack.redisUrl).toBe(own.redisUrl);
  expect(stack.foreign).toEqual(['redis']);
  expect(stack.pid('redis')).toBeUndefined();
  await stack.stop();
  expect(isAlive(own.pid('redis') ?? 0)).toBe(true);
});

test('a nearly full disk is noticed before anything starts; the message names the folder', async () => {
  const dir = temporaryFolder();
  const start = startStack({ dir, only: ['redis'], env: bareEnv(), freeBytes: async () => 9_000_000 });
  await expect(start).rejects.toMatchObject({ code: 'disk-full' });
  await expect(start).rejects.toThrow(
    `The disk that holds ${join(dir, 'data')} is full (9 MB free, the stores need 400 MB)`,
  );
});

test('a store that dies of a full disk: the message says so instead of showing its log', async () => {
  const dir = temporaryFolder();
  const bin = fakeProgram(
    dir,
    'redis-server',
    'test "$1" = --version || { echo "write: No space left on device"; exit 1; }',
  );
  const env = bareEnv({ PATH: `${bin}:${process.env.PATH}` });
  const start = startStack({ dir, only: ['redis'], ports: { redis: await nextFreePort(24_390) }, env });
  await expect(start).rejects.toMatchObject({ code: 'disk-full' });
  await expect(start).rejects.toThrow(/could not write.*Free some space/s);
});

test('a store that ends at once: the message shows its last lines and where the log is', async () => {
  const dir = temporaryFolder();
  const bin = fakeProgram(
    dir,
    'redis-server',
    'test "$1" = --version || { echo "something odd happened"; exit 3; }',
  );
  const env = bareEnv({ PATH: `${bin}:${process.env.PATH}` });
  const start = startStack({ dir, only: ['redis'], ports: { redis: await nextFreePort(24_391) }, env });
  await expect(start).rejects.toMatchObject({ code: 'store-failed' });
  await expect(start).rejects.toThrow(/exit code 3.*redis\.log.*something odd happened/s);
});

test('secrets that cannot be read are not replaced silently', async () => {
  const dir = temporaryFolder();
  writeFileSync(join(dir, 'secrets.json'), '{"authSecret": ');
  await expect(startStack({ dir, only: ['redis'], env: bareEnv() })).rejects.toMatchObject({
    code: 'bad-setting',
  });
});

test('--reset deletes data and nothing else', async () => {
  const dir = temporaryFolder();
  const { stack } = await stackForTest({ dir, only: ['redis'], ports: { redis: 24_395 } });
  await stack.stop();
  writeFileSync(join(dir, 'data', 'redis', 'old'), '');
  writeFileSync(join(dir, 'notes'), '');
  const secrets = readFileSync(join(dir, 'secrets.json'), 'utf8');
  await stackForTest({ dir, only: ['redis'], reset: true, ports: { redis: 24_395 } });
  expect(existsSync(join(dir, 'data', 'redis', 'old'))).toBe(false);
  expect(existsSync(join(dir, 'notes'))).toBe(true);
  expect(readFileSync(join(dir, 'secrets.json'), 'utf8')).toBe(secrets);
});

test('a start that is interrupted stops what it has started', async () => {
  const dir = temporaryFolder();
  const { nats } = await ports(24_397);
  const interrupt = new AbortController();
  const log = (line: string): void => {
    if (line.includes('NATS')) interrupt.abort(new Error('interrupted'));
  };
  const start = startStack({
    dir,
    ports: { nats },
    env: bareEnv(),
    nextFreePort: true,
    log,
    signal: interrupt.signal,
  });
  await expect(start).rejects.toThrow('interrupted');
  expect(await isPortFree(nats)).toBe(true);
  rmSync(dir, { recursive: true });
});

function idleProcess(cwd: string): ChildProcess {
  const child = spawn('sleep', ['600'], { stdio: 'ignore', cwd });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

test('what a killed test run has left is stopped and removed; a run that is alive is not', async () => {
  const root = temporaryFolder();
  const dead = join(root, 'test', 'run-999999999-dead');
  const alive = join(root, 'test', `run-${process.pid}-alive`);
  const leftover = idleProcess(root);
  const other = idleProcess(root);
  for (const [dir, child] of [
    [dead, leftover],
    [alive, other],
  ] as const) {
    mkdirSync(join(dir, 'run'), { recursive: true });
    await until('it runs', () => identifyProcess(child.pid ?? 0)?.command.includes('sleep') ?? false);
    writeFileSync(join(dir, 'run', 'redis.pid'), JSON.stringify(identifyProcess(child.pid ?? 0)));
  }
  await removeDeadRuns(root);
  expect(existsSync(dead)).toBe(false);
  await until('the leftover is gone', () => !isAlive(leftover.pid ?? 0));
  expect(existsSync(alive)).toBe(true);
  expect(isAlive(other.pid ?? 0)).toBe(true);
});
