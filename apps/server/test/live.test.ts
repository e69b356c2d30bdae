import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Host, openHost, relayOf, type Somebody, until } from './host.ts';

let host: Host;
let relay: { stop(): Promise<void> };
let ana: Somebody;

beforeAll(async () => {
  host = await openHost('live');
  relay = relayOf(host);
  ana = await host.somebody('Ana');
});
afterAll(async () => {
  await relay?.stop();
  await host?.close();
});

interface Item {
  id: string;
  kind: string;
  type?: string;
  subject?: string;
}

/** An open live feed, read as a browser reads server-sent events. */
function listen(to: Host, who: Somebody, workspaceId: string, lastEventId?: string) {
  const items: Item[] = [];
  const errors: unknown[] = [];
  const stop = new AbortController();
  let ended = false;
  const input = encodeURIComponent(JSON.stringify({ workspaceId, ...(lastEventId ? { lastEventId } : {}) }));
  const reading = (async () => {
    const response = await fetch(`${to.url}/trpc/activity.live?input=${input}`, {
      headers: { ...who.bearer, accept: 'text/event-stream' },
      signal: stop.signal,
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      rest += decoder.decode(chunk, { stream: true });
      const blocks = rest.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];
        const data = field('data');
        if (field('event') === 'serialized-error') errors.push(JSON.parse(data ?? 'null'));
        const id = field('id');
        if (!id || !data) continue;
        const item = JSON.parse(data) as { kind: string; type?: string; aggregate?: { id: string } };
        items.push({
          id,
          kind: item.kind,
          ...(item.type ? { type: item.type } : {}),
          ...(item.aggregate ? { subject: item.aggregate.id } : {}),
        });
      }
    }
  })()
    .catch((error: unknown) => {
      if (!stop.signal.aborted) errors.push(error);
    })
    .finally(() => {
      ended = true;
    });
  return {
    items,
    errors,
    ended: () => ended,
    ready: () => until(() => items.some((i) => i.kind === 'ready')),
    async stop() {
      stop.abort();
      await reading;
    },
  };
}

const post = async (who: Somebody, workspaceId: string, title: string, status = 'open') => {
  const answer = await host.mutate(
    'ideas.create',
    { workspaceId, title, body: { text: 'x' }, status },
    who.bearer,
  );
  return answer.json.result.data.id as string;
};

const rising = (ids: readonly string[]) => {
  const numbers = ids.map(Number);
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  expect(new Set(numbers).size).toBe(numbers.length);
};

test('events arrive in order, with ids, and only those of the workspace', async () => {
  const workspaceId = await host.workspace(ana);
  const other = await host.workspace(ana);
  const feed = listen(host, ana, workspaceId);
  await feed.ready();
  const wanted: string[] = [];
  for (let i = 0; i < 5; i++) {
    await post(ana, other, `elsewhere ${i}`);
    wanted.push(await post(ana, workspaceId, `here ${i}`));
  }
  const heard = () => feed.items.filter((i) => i.type === 'idea.created').map((i) => i.subject);
  await until(() => heard().length >= 5);
  expect(new Set(heard())).toEqual(new Set(wanted));
  rising(feed.items.map((i) => i.id));
  // Of one idea, its own order.
  const id = wanted[0] ?? '';
  for (const title of ['a', 'b', 'c']) {
    const { json } = await host.query('ideas.get', { id }, ana.bearer);
    await host.mutate('ideas.update', { id, version: json.result.data.version, title }, ana.bearer);
  }
  await until(() => feed.items.filter((i) => i.subject === id).length === 4);
  expect(feed.items.filter((i) => i.subject === id).map((i) => i.type)).toEqual([
    'idea.created',
    'idea.revised',
    'idea.revised',
    'idea.revised',
  ]);
  expect(feed.errors).toEqual([]);
  await feed.stop();
  await until(() => host.stores.live.figures().readers === 0);
});

test('a reader that was away goes on where it was, without gap or double', async () => {
  const workspaceId = await host.workspace(ana);
  const wanted: string[] = [];
  const first = listen(host, ana, workspaceId);
  await first.ready();
  for (let i = 0; i < 3; i++) wanted.push(await post(ana, workspaceId, `before ${i}`));
  const created = (feed: { items: Item[] }) => feed.items.filter((i) => i.type === 'idea.created');
  await until(() => created(first).length === 3);
  await first.stop();
  for (let i = 0; i < 3; i++) wanted.push(await post(ana, workspaceId, `away ${i}`));
  // The middle of what the first one had, so that the last part comes again and nothing is left out.
  const from = created(first)[1] as Item;
  const second = listen(host, ana, workspaceId, from.id);
  wanted.push(await post(ana, workspaceId, 'after'));
  await until(() => created(second).length === 5);
  expect(
    created(second)
      .map((i) => i.subject)
      .slice(0, 1),
  ).toEqual([created(first)[2]?.subject]);
  expect(new Set([...created(first), ...created(second)].map((i) => i.subject))).toEqual(new Set(wanted));
  rising(second.items.filter((i) => i.kind === 'event').map((i) => i.id));
  expect(second.items.filter((i) => i.kind === 'resync')).toEqual([]);
  await second.stop();
});

test('somebody who is removed hears no more', async () => {
  const workspaceId = await host.workspace(ana);
  const bo = await host.somebody('Bo');
  const at = { workspaceId, userId: bo.id };
  await host.mutate('members.add', { workspaceId, email: bo.email, role: 'member' }, ana.bearer);
  const feed = listen(host, bo, workspaceId);
  await feed.ready();
  await post(ana, workspaceId, 'heard');
  await until(() => feed.items.some((i) => i.type === 'idea.created'));
  await host.mutate('members.remove', at, ana.bearer);
  await until(() => feed.ended());
  const had = feed.items.length;
  await post(ana, workspaceId, 'not heard');
  // The next connection is refused.
  const again = listen(host, bo, workspaceId, feed.items.at(-1)?.id);
  await until(() => again.errors.length > 0 || again.ended());
  expect(again.items).toEqual([]);
  expect(JSON.stringify(again.errors)).toContain('NOT_FOUND');
  expect(feed.items.length).toBe(had);
  expect(feed.items.map((i) => i.type)).not.toContain('membership.removed');
  await again.stop();
});

test('somebody whose role changes, or who is back when the removal is read, goes on hearing', async () => {
  const workspaceId = await host.workspace(ana);
  const bo = await host.somebody('Bo');
  const at = { workspaceId, userId: bo.id };
  await host.mutate('members.add', { workspaceId, email: bo.email, role: 'member' }, ana.bearer);
  const feed = listen(host, bo, workspaceId);
  await feed.ready();
  await host.mutate('members.setRole', { ...at, role: 'viewer' }, ana.bearer);
  await until(() => feed.items.some((i) => i.type === 'membership.roleChanged'));
  await feed.stop();
  const from = feed.items[0]?.id;
  await host.mutate('members.remove', at, ana.bearer);
  await host.mutate('members.add', { workspaceId, email: bo.email, role: 'editor' }, ana.bearer);
  const last = await post(ana, workspaceId, 'heard again');
  const again = listen(host, bo, workspaceId, from);
  await until(() => again.items.some((i) => i.subject === last));
  expect(again.items.map((i) => i.type)).toContain('membership.removed');
  expect(again.errors).toEqual([]);
  await again.stop();
  // Their place moves on: the removal is not read again and again.
  rising([from ?? '', ...again.items.map((i) => i.id)]);
  const later = listen(host, bo, workspaceId, again.items.at(-1)?.id);
  const next = await post(ana, workspaceId, 'and again');
  await until(() => later.items.some((i) => i.subject === next));
  expect(later.items.map((i) => i.type)).not.toContain('membership.removed');
  await later.stop();
});

test('signing out, or a removal that no event tells of, ends a feed', async () => {
  // No relay here: the host finds out by looking, every two seconds for feeds that live for eight.
  const own = await openHost('rights', { settings: { liveMs: 8000 } });
  try {
    const olga = await own.somebody('Olga');
    const bo = await own.somebody('Bo');
    const workspaceId = await own.workspace(olga);
    await own.mutate('members.add', { workspaceId, email: bo.email, role: 'member' }, olga.bearer);
    const feeds = { olga: listen(own, olga, workspaceId), bo: listen(own, bo, workspaceId) };
    await Promise.all([feeds.olga.ready(), feeds.bo.ready()]);
    await own.mutate('members.remove', { workspaceId, userId: bo.id }, olga.bearer);
    expect((await own.auth('sign-out', {}, olga.bearer)).status).toBe(200);
    await until(() => feeds.olga.ended() && feeds.bo.ended());
    expect(JSON.stringify(feeds.olga.errors)).toContain('UNAUTHENTICATED');
    expect(JSON.stringify(feeds.bo.errors)).toContain('NOT_FOUND');
    await until(() => own.stores.live.figures().readers === 0);
  } finally {
    await own.close();
  }
});

test('strangers hear nothing, and drafts are heard of by their author alone', async () => {
  const workspaceId = await host.workspace(ana);
  const bo = await host.somebody('Bo');
  const stranger = await host.somebody('Stranger');
  await host.mutate('members.add', { workspaceId, email: bo.email, role: 'editor' }, ana.bearer);
  const feeds = { bo: listen(host, bo, workspaceId), ana: listen(host, ana, workspaceId) };
  await Promise.all([feeds.bo.ready(), feeds.ana.ready()]);
  const draft = await post(ana, workspaceId, 'a secret', 'draft');
  await host.mutate('ideas.update', { id: draft, version: 1, title: 'still a secret' }, ana.bearer);
  const gone = await post(ana, workspaceId, 'another secret', 'draft');
  await host.mutate('ideas.remove', { id: gone, version: 1 }, ana.bearer);
  const open = await post(ana, workspaceId, 'for all');
  const typesOf = (feed: { items: Item[] }, subject: string) =>
    feed.items.filter((i) => i.subject === subject).map((i) => i.type);
  await until(() => typesOf(feeds.bo, open).length > 0 && typesOf(feeds.ana, gone).length === 2);
  expect(typesOf(feeds.ana, draft)).toEqual(['idea.created', 'idea.revised']);
  expect(typesOf(feeds.bo, draft)).toEqual([]);
  expect(typesOf(feeds.bo, gone)).toEqual([]);
  const none = listen(host, stranger, workspaceId);
  await until(() => none.errors.length > 0);
  expect(none.items).toEqual([]);
  expect(JSON.stringify(none.errors)).toContain('NOT_FOUND');
  await Promise.all([feeds.bo.stop(), feeds.ana.stop(), none.stop()]);
});
