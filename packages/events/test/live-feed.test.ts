import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Events, type FeedItem, type LiveFeed, openLiveFeed } from '../src/index.ts';
import { Publisher } from '../src/publisher.ts';
import { open, quiet } from './helpers.ts';
import { startLine } from './line.ts';
import { MemoryOutbox } from './memory-ports.ts';
import { NatsServer, until } from './nats-server.ts';

let server: NatsServer;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  server = await NatsServer.start();
});
afterAll(() => server.remove());
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** One process: its own connection and feed on a stream that others share. */
async function openProcess(
  prefix: string | undefined,
  sizes: { ring?: number; queue?: number; backlog?: number } = {},
  url = server.url,
): Promise<{ events: Events; feed: LiveFeed }> {
  const events = await open(url, { ...(prefix ? { prefix } : {}), deadlineMs: 1_000 });
  const feed = openLiveFeed({ events, log: quiet, ...sizes });
  closing.push(async () => {
    await feed.close();
    await events.close();
  });
  await until(() => feed.figures().live);
  return { events, feed };
}

function writer(events: Events): (workspaceId: string) => Promise<number> {
  const outbox = new MemoryOutbox();
  const publisher = new Publisher(events);
  return async (workspaceId) => {
    const aggregate = `${workspaceId}-i${outbox.rows.length % 3}`;
    const row = outbox.add(aggregate, { workspaceId, subject: `${workspaceId}.idea.${aggregate}` });
    return (await publisher.publish(row)).seq;
  };
}

/** Reads in the background; `items` grows. */
function read(
  feed: LiveFeed,
  workspaceId: string,
  afterSeq?: string | null,
): { items: FeedItem[]; seqs(): number[]; stop(): void; ended: Promise<void> } {
  const control = new AbortController();
  const items: FeedItem[] = [];
  const ended = (async () => {
    for await (const item of feed.subscribe({
      workspaceId,
      afterSeq: afterSeq ?? null,
      signal: control.signal,
    }))
      items.push(item);
  })();
  closing.push(async () => {
    control.abort();
    await ended;
  });
  return {
    items,
    seqs: () => items.filter((item) => item.kind === 'event').map((item) => Number(item.seq)),
    stop: () => control.abort(),
    ended,
  };
}

describe('live feed', () => {
  it('begins with ready and gives the workspace’s events only', async () => {
    const { events, feed } = await openProcess(undefined);
    const write = writer(events);
    await write('w1');
    await until(() => feed.figures().seq === 1);
    const reader = read(feed, 'w1');
    await until(() => reader.items.length === 1);
    expect(reader.items[0]).toEqual({ kind: 'ready', seq: '1' });
    await write('w2');
    await write('w1');
    await until(() => reader.items.length === 2);
    expect(reader.items[1]).toMatchObject({ kind: 'event', seq: '3', event: { type: 'idea.bodyStored' } });
    reader.stop();
    await reader.ended;
    expect(feed.figures().readers).toBe(0);
  });

  it.each([
    ['from the ring', 1_000],
    ['from the stream', 5],
  ])('resumes on another process under load without gap or double, %s', async (_, ring) => {
    const one = await openProcess(undefined);
    const two = await openProcess(one.events.prefix, { ring });
    const write = writer(one.events);
    const mine: number[] = [];
    let writing = true;
    closing.push(async () => {
      writing = false;
      await load;
    });
    const load = (async () => {
      for (let i = 0; writing; i++) {
        const seq = await write(i % 4 === 3 ? 'w2' : 'w1');
        if (i % 4 !== 3) mine.push(seq);
      }
    })();
    const got: number[] = [];
    let last: string | null = null;
    for (let hop = 0; hop < 12; hop++) {
      const { feed } = hop % 2 ? two : one;
      const reader = read(feed, 'w1', last);
      const enough = 5 + hop * 3;
      await until(() => reader.seqs().length >= enough);
      reader.stop();
      await reader.ended;
      expect(reader.items.some((item) => item.kind === 'resync')).toBe(false);
      got.push(...reader.seqs());
      last = String(got.at(-1));
      // Away for a while, so that there is something to catch up with.
      const goal = mine.length + 20;
      await until(() => mine.length >= goal);
    }
    const reader = read(two.feed, 'w1', last);
    writing = false;
    await load;
    await until(() => reader.seqs().at(-1) === mine.at(-1));
    got.push(...reader.seqs());
    const first = got[0] ?? 0;
    expect(got).toEqual(mine.filter((seq) => seq >= first));
  });

  it('gives no event again to a reader who is ahead of this process', async () => {
    const one = await openProcess(undefined);
    const line = await startLine(server.port);
    closing.push(() => line.close());
    const two = await openProcess(one.events.prefix, {}, line.url);
    const write = writer(one.events);
    line.hold();
    const ahead = await write('w1');
    // This reader has it from `one`, while it has not reached `two` yet.
    const reader = read(two.feed, 'w1', String(ahead));
    await until(() => two.feed.figures().readers === 1);
    expect(two.feed.figures().seq).toBeLessThan(ahead);
    line.release();
    const next = await write('w1');
    await until(() => reader.items.length > 0);
    expect(reader.items.map((item) => [item.kind, item.seq])).toEqual([['event', String(next)]]);
  });

  it('fills its ring at the start, so that a restart serves returning readers', async () => {
    const one = await openProcess(undefined);
    const write = writer(one.events);
    const seqs: number[] = [];
    for (let i = 0; i < 20; i++) seqs.push(await write('w1'));
    const two = await openProcess(one.events.prefix);
    const reader = read(two.feed, 'w1', String(seqs[4]));
    await until(() => reader.items.length === 15);
    expect(reader.seqs()).toEqual(seqs.slice(5));
  });

  it('asks a slow reader to resync instead of keeping everything for it, then goes on', async () => {
    const { events, feed } = await openProcess(undefined, { queue: 10 });
    const write = writer(events);
    const control = new AbortController();
    closing.push(async () => control.abort());
    const iterator = feed.subscribe({ workspaceId: 'w1', signal: control.signal })[Symbol.asyncIterator]();
    expect((await iterator.next()).value).toMatchObject({ kind: 'ready' });
    let last = 0;
    for (let i = 0; i < 30; i++) last = await write('w1');
    await until(() => feed.figures().seq === last);
    expect((await iterator.next()).value).toEqual({ kind: 'resync', seq: String(last) });
    const next = await write('w1');
    expect((await iterator.next()).value).toMatchObject({ kind: 'event', seq: String(next) });
  });

  it.each([
    ['is beyond the stream', '999999'],
    ['has more behind it than is read for one reader', '0'],
  ])('asks to resync when the place %s', async (_, after) => {
    const { events, feed } = await openProcess(undefined, { ring: 2, backlog: 10 });
    const write = writer(events);
    let last = 0;
    for (let i = 0; i < 20; i++) last = await write('w1');
    await until(() => feed.figures().seq === last);
    const reader = read(feed, 'w1', after);
    await until(() => reader.items.length > 0);
    expect(reader.items).toEqual([{ kind: 'resync', seq: String(last) }]);
    const next = await write('w1');
    await until(() => reader.seqs().length === 1);
    expect(reader.seqs()).toEqual([next]);
  });

  it('asks to resync when the place is older than the stream', async () => {
    const { events, feed } = await openProcess(undefined, { ring: 2 });
    const write = writer(events);
    for (let i = 0; i < 20; i++) await write('w1');
    await events.manager.streams.purge(events.stream, { seq: 10 });
    await until(() => feed.figures().seq === 20);
    const reader = read(feed, 'w1', '5');
    await until(() => reader.items.length > 0);
    expect(reader.items[0]).toEqual({ kind: 'resync', seq: '20' });
  });

  it('asks to resync when the stream was made anew, and goes on with the new one', async () => {
    const { events, feed } = await openProcess(undefined);
    const write = writer(events);
    for (let i = 0; i < 5; i++) await write('w1');
    await until(() => feed.figures().seq === 5);
    const reader = read(feed, 'w1');
    await until(() => reader.items.length === 1);
    await events.manager.streams.delete(events.stream);
    await until(() => reader.items.some((item) => item.kind === 'resync'), 20_000);
    const seq = await writer(events)('w1');
    await until(() => reader.items.at(-1)?.kind === 'event');
    expect(reader.items.at(-1)?.seq).toBe(String(seq));
  });

  it('asks to resync when the stream was rolled back, also when it has grown beyond where it was', async () => {
    const own = await NatsServer.start();
    closing.push(() => own.remove());
    const { events, feed } = await openProcess(undefined, {}, own.url);
    const outbox = new MemoryOutbox();
    const write = async (to: Events, i: number): Promise<void> => {
      await new Publisher(to).publish(outbox.add(`a${i}`, { subject: `w1.idea.a${i}` }));
    };
    const reader = read(feed, 'w1');
    for (let i = 0; i < 5; i++) await write(events, i);
    await own.kill('SIGTERM');
    await own.keepCopy();
    await own.start();
    await until(() => events.connected);
    for (let i = 5; i < 10; i++) await write(events, i);
    await until(() => reader.seqs().length === 10, 20_000);
    await own.kill();
    await own.rollBack();
    await own.start();
    const other = await open(own.url, { prefix: events.prefix });
    closing.push(() => other.close());
    // Before the feed is back: its connection waits a quarter of a second at least.
    for (let i = 10; i < 20; i++) await write(other, i);
    await until(() => reader.items.some((item) => item.kind === 'resync'), 20_000);
    await write(other, 20);
    await until(() => reader.items.at(-1)?.seq === '16');
  });

  it('waits while NATS is away and then goes on where it was', async () => {
    const own = await NatsServer.start();
    closing.push(() => own.remove());
    const { events, feed } = await openProcess(undefined, {}, own.url);
    const write = writer(events);
    const reader = read(feed, 'w1');
    await write('w1');
    await until(() => reader.seqs().length === 1);
    await own.kill();
    await until(() => !events.connected);
    await own.start();
    await until(() => events.connected);
    await write('w1');
    await until(() => reader.seqs().length === 2, 20_000);
    expect(reader.items.map((item) => item.kind)).toEqual(['ready', 'event', 'event']);
  });
});
