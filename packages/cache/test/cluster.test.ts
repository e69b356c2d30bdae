import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Cache, defineFamily, openCache, readCacheSettings } from '../src/index.ts';

/** Two masters that share the slots: what needs several keys on one node fails here, as on any cluster. */
const SLOTS = 16_384;
const FAMILY = defineFamily<string>({
  name: 'cluster-text',
  version: 'the test',
  ttlSeconds: 60,
  maxBytes: 1000,
  memory: false,
  redis: true,
});

let folder: string;
let cache: Cache;
let ports: number[];
const nodes: ChildProcess[] = [];

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const found = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return found;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sparkroom-cluster-'));
  const all = await freePorts(4);
  ports = all.slice(0, 2);
  const admins: Redis[] = [];
  for (const [i, port] of ports.entries()) {
    const options = {
      port,
      bind: '127.0.0.1',
      dir: folder,
      save: '',
      'cluster-enabled': 'yes',
      'cluster-config-file': `nodes-${i}.conf`,
      'cluster-port': all[i + 2],
    };
    const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
    nodes.push(spawn('redis-server', args, { stdio: 'ignore' }));
    const admin = new Redis({ port, host: '127.0.0.1', retryStrategy: () => 50 });
    admin.on('error', () => {});
    admins.push(admin);
    await admin.ping();
  }
  const [first, second] = admins as [Redis, Redis];
  await first.cluster('ADDSLOTSRANGE', 0, SLOTS / 2 - 1);
  await second.cluster('ADDSLOTSRANGE', SLOTS / 2, SLOTS - 1);
  await first.call('cluster', 'meet', '127.0.0.1', String(ports[1]), String(all[3]));
  await vi.waitFor(
    async () => {
      for (const admin of admins) expect(await admin.cluster('INFO')).toContain('cluster_state:ok');
    },
    { timeout: 20_000, interval: 100 },
  );
  for (const admin of admins) admin.disconnect();
  cache = openCache({
    ...readCacheSettings(process.env),
    url: `redis-cluster://${ports.map((port) => `127.0.0.1:${port}`).join(',')}`,
    prefix: 'cluster-test',
  });
  await vi.waitFor(() => cache.ping(), { timeout: 10_000 });
}, 40_000);

afterAll(async () => {
  await cache?.close();
  for (const node of nodes) {
    const ended = once(node, 'exit');
    node.kill('SIGKILL');
    await ended;
  }
  await rm(folder, { recursive: true, force: true });
});

test('fills, reads of many, invalidations, notes and counters work across the slots', async () => {
  const ids = Array.from({ length: 40 }, (_, i) => `id${i}`);
  const wanted = new Map(ids.map((id) => [id, 1]));
  const load = vi.fn(
    async (missing: string[]) => new Map(missing.map((id) => [id, { version: 1, value: `value ${id}` }])),
  );
  expect((await cache.readMany(FAMILY, wanted, load)).size).toBe(40);
  await vi.waitFor(async () => {
    await cache.readMany(FAMILY, wanted, load);
    const calls = load.mock.calls.length;
    expect((await cache.readMany(FAMILY, wanted, load)).get('id7')).toBe('value id7');
    expect(load.mock.calls.length).toBe(calls);
  });
  await Promise.all(ids.map((id) => cache.invalidate(FAMILY, id, 2)));
  const stories = await Promise.all(ids.map((id) => cache.story(FAMILY, id)));
  expect(new Set(stories.map((story) => story?.version))).toEqual(new Set([2]));
  expect(stories[0]?.notes.map((note) => note.op)).toEqual(['drop', 'fill']);
  const uses = await Promise.all(
    ids.map((id) => cache.consume({ family: 'rate', id }, { max: 1, windowSeconds: 60 })),
  );
  expect(uses.every((use) => use.allowed)).toBe(true);
  // Both nodes have their share.
  for (const port of ports) {
    const node = new Redis({ port, host: '127.0.0.1' });
    expect(await node.dbsize()).toBeGreaterThan(10);
    node.disconnect();
  }
});
