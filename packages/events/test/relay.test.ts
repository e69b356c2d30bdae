import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Events, type OutboxRow, type Relay, startRelay } from '../src/index.ts';
import { Publisher } from '../src/publisher.ts';
import { newPrefix, open, quiet, stored } from './helpers.ts';
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

async function opened(over: Parameters<typeof open>[1] = {}): Promise<Events> {
  const events = await open(server.url, over);
  closing.push(() => events.close());
  return events;
}

function relayOn(events: Events, outbox: MemoryOutbox, window = 16): Relay {
  const relay = startRelay({ outbox: outbox.port(), events, log: quiet, partitions: 1, window, idleMs: 50 });
  closing.push(() => relay.stop());
  return relay;
}

/** Event ids in the stream by aggregate, in stream order. */
async function idsByAggregate(events: Events): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  for (const { subject, id } of await stored(events)) {
    const list = found.get(subject) ?? [];
    found.set(subject, list);
    list.push(id);
  }
  return found;
}

const expected = (rows: OutboxRow[], prefix: string): Map<string, string[]> => {
  const found = new Map<string, string[]>();
  for (const row of rows) {
    const subject = `${prefix}.${row.subject}`;
    found.set(subject, [...(found.get(subject) ?? []), row.eventId]);
  }
  return found;
};

describe('relay', () => {
  it('keeps the order of every aggregate, stores each event once and marks it with its sequence', async () => {
    const events = await opened();
    const outbox = new MemoryOutbox();
    for (let i = 0; i < 1_000; i++) outbox.add(`a${i % 37}`);
    relayOn(events, outbox);
    await until(() => outbox.pendingCount() === 0, 20_000, 'not all were published');
    expect(await idsByAggregate(events)).toEqual(expected(outbox.rows, events.prefix));
    const bySeq = new Map((await stored(events)).map((m) => [m.seq, m.id]));
    for (const row of outbox.rows) expect(bySeq.get(row.streamSeq ?? 0)).toBe(row.eventId);
  });

  it('publishes a row that commits late although later ids are out already', async () => {
    const events = await opened();
    const outbox = new MemoryOutbox();
    const late = outbox.add('late');
    outbox.rows.splice(0);
    const early = outbox.add('early');
    relayOn(events, outbox);
    await until(() => outbox.pendingCount() === 0);
    outbox.rows.unshift({ ...late, partition: 0, streamSeq: null, lastError: null });
    await until(() => outbox.pendingCount() === 0);
    expect((await stored(events)).map((m) => m.id)).toEqual([early.eventId, late.eventId]);
  });

  it('lets a failing aggregate block only itself, and finishes it once the cause is gone', async () => {
    const events = await opened();
    const outbox = new MemoryOutbox();
    const bad = outbox.add('bad', { payload: 'x'.repeat(1_100_000) });
    const behind = outbox.add('bad');
    // More than one read's worth in front of the others.
    for (let i = 0; i < 600; i++) outbox.add('bad');
    for (let i = 0; i < 50; i++) outbox.add(`good${i % 5}`);
    relayOn(events, outbox);
    const isGood = (row: OutboxRow): boolean => row.aggregateId.startsWith('good');
    await until(() => outbox.rows.filter(isGood).every((row) => row.streamSeq !== null));
    const row = outbox.rows.find((one) => one.id === bad.id);
    await until(() => (row?.attempts ?? 0) > 0);
    expect(row?.lastError).toMatch(/more than the server takes/);
    expect(outbox.rows.find((one) => one.id === behind.id)?.streamSeq).toBeNull();
  });

  it('stores one copy when it dies between PubAck and mark and comes back within the duplicate window', async () => {
    const events = await opened();
    await crashBetweenAckAndMark(events, 0);
  });

  it('stores one copy when it comes back after the duplicate window', async () => {
    const events = await opened({ duplicateWindowMs: 1_000 });
    await crashBetweenAckAndMark(events, 1_500);
  });

  async function crashBetweenAckAndMark(events: Events, downMs: number): Promise<void> {
    const outbox = new MemoryOutbox();
    for (let i = 0; i < 30; i++) outbox.add(`a${i % 10}`);
    outbox.beforeMark = () => {
      throw new Error('connection lost');
    };
    const first = relayOn(events, outbox);
    await until(async () => (await stored(events)).length === 30);
    await first.stop();
    expect(outbox.pendingCount()).toBe(30);
    await new Promise((resolve) => setTimeout(resolve, downMs));
    outbox.beforeMark = () => {};
    for (let i = 0; i < 10; i++) outbox.add(`a${i}`);
    relayOn(events, outbox);
    await until(() => outbox.pendingCount() === 0);
    expect(await idsByAggregate(events)).toEqual(expected(outbox.rows, events.prefix));
  }

  it('recognises its event by the id where the server has forgotten it and would store another copy', async () => {
    const events = await opened({ duplicateWindowMs: 100 });
    const row = new MemoryOutbox().add('a');
    const subject = `${events.prefix}.${row.subject}`;
    await events.jetstream.publish(subject, new Uint8Array(), { msgID: row.eventId });
    await until(async () => {
      const ack = await events.jetstream.publish(subject, new Uint8Array(), { msgID: row.eventId });
      return !ack.duplicate;
    });
    const before = await stored(events);
    expect(before).toHaveLength(2);
    const result = await new Publisher(events).publish(row);
    expect(result).toEqual({ seq: before[1]?.seq, already: true });
    expect(await stored(events)).toHaveLength(2);
  });

  it('gives the loser of two publishers of the next version the winner’s copy', async () => {
    const events = await opened({ duplicateWindowMs: 100 });
    const outbox = new MemoryOutbox();
    const [one, two, three] = [outbox.add('a'), outbox.add('a'), outbox.add('a')];
    const [left, right] = [new Publisher(events), new Publisher(events)];
    const first = await left.publish(one);
    expect(await right.publish(two)).toEqual({ seq: first.seq + 1, already: false });
    await right.publish(three);
    await new Promise((resolve) => setTimeout(resolve, 300));
    // `left` was paused and still believes that version 1 is the last.
    expect(await left.publish(two)).toEqual({ seq: first.seq + 1, already: true });
    expect((await stored(events)).map((m) => m.id)).toEqual([one.eventId, two.eventId, three.eventId]);
  });

  it('hands over when a relay is cut off from its lock while it holds rows', async () => {
    const events = await opened();
    const other = await opened({ prefix: events.prefix });
    const outbox = new MemoryOutbox();
    for (let i = 0; i < 300; i++) outbox.add(`a${i % 7}`);
    let release: () => void = () => {};
    const frozen = new Promise<void>((resolve) => {
      release = resolve;
    });
    let cut = false;
    outbox.beforeMark = async () => {
      if (cut) return;
      cut = true;
      await frozen;
      throw new Error('session ended');
    };
    relayOn(events, outbox);
    await until(() => cut);
    outbox.breakLock(0);
    relayOn(other, outbox);
    await until(() => outbox.pendingCount() === 0);
    release();
    for (let i = 0; i < 20; i++) outbox.add(`a${i % 7}`);
    await until(() => outbox.pendingCount() === 0);
    expect(await idsByAggregate(events)).toEqual(expected(outbox.rows, events.prefix));
  });

  it('waits out an outage of NATS and loses nothing', async () => {
    const own = await NatsServer.start();
    closing.push(() => own.remove());
    const events = await open(own.url, { deadlineMs: 500 });
    closing.push(() => events.close());
    const outbox = new MemoryOutbox();
    relayOn(events, outbox);
    for (let i = 0; i < 100; i++) outbox.add(`a${i % 9}`);
    await until(() => outbox.pendingCount() < 100);
    await own.kill();
    for (let i = 0; i < 100; i++) outbox.add(`a${i % 9}`);
    await until(() => !events.connected);
    await own.start();
    await until(() => outbox.pendingCount() === 0, 20_000);
    expect(await idsByAggregate(events)).toEqual(expected(outbox.rows, events.prefix));
  });

  it('is woken by a commit long before its idle look', async () => {
    const events = await opened();
    const outbox = new MemoryOutbox();
    const relay = startRelay({ outbox: outbox.port(), events, log: quiet, partitions: 1, idleMs: 60_000 });
    closing.push(() => relay.stop());
    await until(() => relay.held().length === 1);
    outbox.add('a');
    await events.connection.flush();
    events.wakeOutbox();
    await until(() => outbox.pendingCount() === 0, 2_000, 'the wake-up did not arrive');
  });

  it('marks what is in flight before it stops', async () => {
    const events = await opened();
    const outbox = new MemoryOutbox();
    for (let i = 0; i < 500; i++) outbox.add(`a${i % 50}`);
    const relay = relayOn(events, outbox);
    await until(() => outbox.pendingCount() < 500);
    await relay.stop();
    expect((await stored(events)).length).toBe(500 - outbox.pendingCount());
  });
});

describe('connection', () => {
  it('says which store is away', async () => {
    await expect(open('nats://127.0.0.1:9', { connectMs: 500 })).rejects.toMatchObject({
      name: 'StoreUnavailableError',
      store: 'nats',
    });
  });

  it('answers the readiness question, also while the server is away', async () => {
    const own = await NatsServer.start();
    closing.push(() => own.remove());
    const events = await open(own.url, { deadlineMs: 300 });
    closing.push(() => events.close());
    await events.ping(AbortSignal.timeout(1_000));
    await own.kill();
    await expect(events.ping(AbortSignal.timeout(1_000))).rejects.toMatchObject({ store: 'nats' });
    await own.start();
    await until(async () => {
      try {
        await events.ping(AbortSignal.timeout(1_000));
        return true;
      } catch {
        return false;
      }
    });
  });

  it('says so when the server runs without JetStream', async () => {
    const own = await NatsServer.start([]);
    closing.push(() => own.remove());
    await expect(open(own.url, { deadlineMs: 300 })).rejects.toThrow(/-js/);
  });

  it('makes the stream once when several start together', async () => {
    const prefix = newPrefix();
    const all = await Promise.all([opened({ prefix }), opened({ prefix }), opened({ prefix })]);
    const info = await all[0].streamInfo();
    expect(info.config.subjects).toEqual([`${prefix}.>`]);
    expect(info.config.max_msg_size).toBe(1_048_576);
  });
});
