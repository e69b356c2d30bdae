import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Host, openHost, relayOf, type Somebody, until } from './host.ts';

/** Two server processes' worth of hosts over the same stores. */
let one: Host;
let two: Host;
let relay: { stop(): Promise<void> } | undefined;
let ana: Somebody;
let room: string;

beforeAll(async () => {
  one = await openHost('servercache');
  two = await openHost('servercache');
  relay = relayOf(one);
  ana = await one.somebody('Ana');
  room = await one.workspace(ana);
});
afterAll(async () => {
  await relay?.stop();
  await two?.close();
  await one?.close();
});

const ideasSeenBy = async (host: Host): Promise<number> =>
  (await host.query('workspaces.list', { limit: 20 }, ana.bearer)).json.result.data.items[0].ideaCount;
const post = (host: Host, title: string) =>
  host.mutate(
    'ideas.create',
    { workspaceId: room, title, body: { text: title }, status: 'open' },
    ana.bearer,
  );
/** Counts come from a lease: the other process asks nobody. */
const leased = (host: Host) => host.stores.cache.leases.figures();

test('counts on another process follow the events', async () => {
  await until(() => leased(two).fresh);
  await ideasSeenBy(two);
  const before = leased(two).served;
  expect(await ideasSeenBy(two)).toBe(0);
  expect(leased(two).served).toBe(before + 1);
  await post(one, 'First');
  // Who changed it sees it at once.
  expect(await ideasSeenBy(one)).toBe(1);
  const since = performance.now();
  await until(async () => (await ideasSeenBy(two)) === 1);
  expect(performance.now() - since).toBeLessThan(2000);
});

test('with a relay that stands still they are old for at most five seconds', async () => {
  await relay?.stop();
  await until(() => leased(two).fresh);
  await ideasSeenBy(two);
  const since = performance.now();
  await post(one, 'Second');
  await until(async () => (await ideasSeenBy(two)) === 2);
  expect(performance.now() - since).toBeLessThan(6000);
  relay = relayOf(one);
});

test('a person who is renamed is so on every process at once', async () => {
  const nameIn = async (host: Host) =>
    (await host.query('members.list', { workspaceId: room }, ana.bearer)).json.result.data.items[0].name;
  expect(await nameIn(two)).toBe('Ana');
  const answer = await one.auth('update-user', { name: 'Anna' }, ana.bearer);
  expect(answer.status).toBe(200);
  expect(await nameIn(two)).toBe('Anna');
  expect((await two.query('me.get', undefined, ana.bearer)).json.result.data.name).toBe('Anna');
});

test('the figures are there for Prometheus', async () => {
  const { text } = await two.request('/metrics');
  expect(text).toMatch(/^sparkroom_cache_hits_total\{family="my-workspaces",tier="memory"\} [1-9]/m);
  expect(text).toMatch(/^sparkroom_cache_feed_fresh 1$/m);
});
