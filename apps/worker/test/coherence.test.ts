import { type Cache, families, openCache, readCacheSettings } from '@sparkroom/cache';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { type Bench, openBench, type Program, spawnWorker, until } from './bench.ts';

let bench: Bench;
let cache: Cache;
const running: Program[] = [];

beforeAll(async () => {
  bench = await openBench();
  cache = openCache(readCacheSettings(bench.env));
  await vi.waitFor(() => cache.ping());
});
afterAll(async () => {
  await cache?.close();
  await bench?.close();
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((program) => program.end('SIGKILL')));
});

async function figuresOf(url: string): Promise<(pattern: RegExp) => number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return (pattern) =>
    text
      .split('\n')
      .filter((line) => pattern.test(line))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

it('finds nothing where nothing is wrong, and an old answer that somebody put into Redis', async () => {
  const { core, actor, workspaceId } = bench;
  const { program, url } = await spawnWorker(bench.env, ['--roles', 'relay,cache,coherence']);
  running.push(program);
  const rename = async (name: string) => {
    const { version } = await core.workspaces.get(actor, { id: workspaceId });
    await core.workspaces.update(actor, { id: workspaceId, version, name });
  };
  await until(async () => (await figuresOf(url))(/^sparkroom_cache_feed_fresh/) === 1);
  await rename('Right');
  const verdicts = (verdict: string) => new RegExp(`^sparkroom_cache_checks_total.*verdict="${verdict}"`);
  // Two reads through two tiers, after 50 ms and after 1 s.
  await until(async () => (await figuresOf(url))(verdicts('coherent')) >= 8);
  expect((await figuresOf(url))(/^cache_incoherent/)).toBe(0);
  expect((await figuresOf(url))(verdicts('incoherent'))).toBe(0);

  // What no version can catch: an old page that claims to be newer than all there will be.
  const mine = families().get('my-workspaces');
  if (!mine) throw new Error('the family is not defined');
  const old = await core.workspaces.list(actor, { limit: 20, archived: false });
  await cache.invalidate(mine, actor.userId, 1_000_000_000);
  await cache.read(
    { ...mine, memory: false },
    { id: actor.userId, variant: '20', version: 1_000_000_000 },
    async () => old,
  );
  await rename('Renamed');
  await until(async () => (await figuresOf(url))(/^cache_incoherent\{window="1s"\}/) > 0);
  const line = JSON.parse(await program.says('older than the database')) as {
    key: string;
    notes: { op: string }[];
  };
  expect(line.key).toBe(`my-workspaces:${actor.userId}`);
  expect(line.notes[0]?.op).toBe('fill');
  expect((await figuresOf(url))(/incoherent.*tier="redis"|tier="redis".*incoherent/)).toBeGreaterThan(0);
});
