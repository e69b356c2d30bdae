import { AckPolicy } from 'nats';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type Consumer,
  type ConsumerOptions,
  countAdvisories,
  type Events,
  inTurn,
  readAdvisories,
  startConsumer,
  startReplay,
} from '../src/index.ts';
import { Publisher } from '../src/publisher.ts';
import { open, quiet } from './helpers.ts';
import { MemoryInbox, MemoryOutbox } from './memory-ports.ts';
import { NatsServer, until } from './nats-server.ts';

type Options = ConsumerOptions<'idea.bodyStored', string[]>;

let server: NatsServer;
const closing: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  server = await NatsServer.start();
});
afterAll(() => server.remove());
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function bench(): Promise<{
  events: Events;
  inbox: MemoryInbox;
  publish(...aggregates: string[]): Promise<string[]>;
  options(over: Partial<Options>): Options;
  consume(over: Partial<Options>): Consumer;
}> {
  const events = await open(server.url);
  closing.push(() => events.close());
  const outbox = new MemoryOutbox();
  const inbox = new MemoryInbox();
  const publisher = new Publisher(events);
  const options = (over: Partial<Options>): Options => ({
    events,
    name: 'test-v1',
    filter: '*.idea.*',
    handler: async () => {},
    backoff: [20],
    retryMs: 50,
    inbox,
    log: quiet,
    ...over,
  });
  return {
    events,
    inbox,
    options,
    async publish(...aggregates) {
      const ids: string[] = [];
      for (const aggregate of aggregates) {
        const row = outbox.add(aggregate);
        await publisher.publish(row);
        ids.push(row.eventId);
      }
      return ids;
    },
    consume(over) {
      const consumer = startConsumer(options(over));
      closing.push(() => consumer.stop(2_000));
      return consumer;
    },
  };
}

describe('a handler that asks for consecutive versions', () => {
  it('gets an event when its turn has come, and skips what it has', async () => {
    const b = await bench();
    let applied = -1;
    const seen: number[] = [];
    const consumer = b.consume({
      handler: async ({ aggregate }) => {
        if (inTurn(aggregate.version, applied)) applied = aggregate.version;
        seen.push(aggregate.version);
      },
    });
    await b.publish('a', 'a', 'a');
    // The handler's state lacks version 0, so the first waits, and the others behind it.
    await until(async () => (await consumer.figures()).waiting === 1);
    expect([seen, b.inbox.dead]).toEqual([[], []]);
    applied = 1;
    await until(() => applied === 3);
    expect(seen).toEqual([1, 2, 3]);
  });

  it('does not wait for ever: what stays away shows as a dead letter', async () => {
    const b = await bench();
    b.consume({
      maxDeliver: 2,
      patienceMs: 100,
      handler: async ({ aggregate }) => void inTurn(aggregate.version, -1),
    });
    await b.publish('a');
    await until(() => b.inbox.dead.length === 1);
    expect(b.inbox.dead[0]?.error).toBe('version 1 came, version 0 is awaited');
  });
});

describe('a handler that ends its process', () => {
  /** What processes leave that got the event and died: deliveries without an answer. */
  async function diedTwice(events: Events): Promise<void> {
    await events.manager.consumers.add(events.stream, {
      durable_name: 'test-v1',
      ack_policy: AckPolicy.Explicit,
      ack_wait: 50 * 1_000_000,
      filter_subject: `${events.prefix}.*.idea.*`,
    });
    const consumer = await events.jetstream.consumers.get(events.stream, 'test-v1');
    for (let i = 0; i < 2; i++) {
      const message = await consumer.next({ expires: 2_000 });
      expect(message?.info.deliveryCount).toBe(i + 1);
    }
  }

  it('is written down before it begins, and forgotten when it ends well', async () => {
    const b = await bench();
    const [id = ''] = await b.publish('a');
    await diedTwice(b.events);
    let during: number | undefined;
    const consumer = b.consume({
      ackWaitMs: 300,
      handler: async () => {
        during = b.inbox.trying.get(id);
      },
    });
    await until(async () => (await consumer.figures()).handled === 1);
    expect(during).toBe(1);
    expect(b.inbox.trying.size).toBe(0);
  });

  it('is not begun again after so many processes', async () => {
    const b = await bench();
    const [id = ''] = await b.publish('a');
    await diedTwice(b.events);
    // A third one wrote it down, and died as well.
    b.inbox.trying.set(id, 1);
    let begun = 0;
    const consumer = b.consume({ ackWaitMs: 300, maxDeliver: 3, handler: async () => void begun++ });
    await until(() => b.inbox.dead.length === 1);
    expect(begun).toBe(0);
    expect(b.inbox.dead[0]).toMatchObject({ error: '3 processes ended while they handled it', attempts: 3 });
    await until(async () => (await consumer.figures()).ackPending === 0);
  });
});

describe('dead letters', () => {
  it('are told of by the server, and tried again when somebody wants it', async () => {
    const b = await bench();
    let cured = false;
    const handled: unknown[] = [];
    b.consume({
      maxDeliver: 2,
      handler: async (event, { once }) => {
        if (!cured) throw new Error('not yet cured');
        await once(async (trx) => void trx.push(event.id));
        handled.push(event);
      },
    });
    const [id] = await b.publish('点.1');
    await until(() => b.inbox.dead.length === 1);
    await until(async () => (await countAdvisories(b.events)) === 1);
    expect((await readAdvisories(b.events, 5))[0]).toMatchObject({
      kind: 'terminated',
      consumer: 'test-v1',
      streamSeq: 1,
      deliveries: 2,
    });
    b.inbox.wanted.push(...b.inbox.dead);
    await until(() => b.inbox.dead.length === 2);
    expect(b.inbox.dead[1]?.attempts).toBe(3);
    cured = true;
    b.inbox.wanted.push(...b.inbox.dead.slice(1));
    await until(() => b.inbox.dead.length === 0);
    expect(handled).toMatchObject([
      { id, aggregate: { id: '点.1', version: 1 }, payload: { bodyVersion: 1 } },
    ]);
    expect(b.inbox.effects).toEqual([id]);
  });
});

describe('replay', () => {
  it('has the effects from a place on once more, beside the consumer, and leaves nothing behind', async () => {
    const b = await bench();
    const handler: Options['handler'] = async (event, { once }) => {
      await once(async (trx) => void trx.push(event.id));
    };
    b.consume({ handler });
    const ids = await b.publish('a', 'b', 'a', 'c', 'b');
    await until(() => b.inbox.effects.length === 5);
    const replay = startReplay(b.options({ handler }), { seq: 3 });
    expect(await replay.done).toEqual({ handled: 3, deadLettered: 0 });
    expect(b.inbox.effects.slice(5).sort()).toEqual(ids.slice(2).sort());
    expect(replay.name).toMatch(/^test-r/);
    await expect(b.events.manager.consumers.info(b.events.stream, replay.name)).rejects.toThrow();
    await b.publish('d');
    await until(() => b.inbox.effects.length === 9);
  });

  it('begins at a time', async () => {
    const b = await bench();
    await b.publish('a', 'a');
    await new Promise((resolve) => setTimeout(resolve, 20));
    const time = new Date();
    const ids = await b.publish('a', 'b');
    const seen: string[] = [];
    const replay = startReplay(b.options({ handler: async ({ id }) => void seen.push(id) }), { time });
    await replay.done;
    expect(seen.sort()).toEqual(ids.sort());
  });

  it('is refused where effects leave the system', async () => {
    const b = await bench();
    expect(() => startReplay(b.options({ replay: 'never' }), 'all')).toThrow('must not be handled');
    expect(() => startConsumer(b.options({ replay: 'never', start: { seq: 1 } }))).toThrow('test-v1');
  });
});
