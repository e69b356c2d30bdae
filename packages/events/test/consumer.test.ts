import { StoreUnavailableError } from '@sparkroom/pools';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type Consumer,
  type ConsumerOptions,
  type Events,
  NotYetError,
  startConsumer,
} from '../src/index.ts';
import { Publisher } from '../src/publisher.ts';
import { open, quiet } from './helpers.ts';
import { startLine } from './line.ts';
import { MemoryInbox, MemoryOutbox } from './memory-ports.ts';
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

interface Bench {
  events: Events;
  outbox: MemoryOutbox;
  inbox: MemoryInbox;
  publish(aggregateId: string, over?: Parameters<MemoryOutbox['add']>[1]): Promise<string>;
  consume(options: Partial<ConsumerOptions<'idea.bodyStored', string[]>>): Consumer;
}

async function bench(url = server.url, over: Parameters<typeof open>[1] = {}): Promise<Bench> {
  const events = await open(url, over);
  closing.push(() => events.close());
  const outbox = new MemoryOutbox();
  const inbox = new MemoryInbox();
  const publisher = new Publisher(events);
  return {
    events,
    outbox,
    inbox,
    async publish(aggregateId, changes) {
      const row = outbox.add(aggregateId, changes);
      await publisher.publish(row);
      return row.eventId;
    },
    consume(options) {
      const consumer = startConsumer<'idea.bodyStored', string[]>({
        events,
        name: 'test-v1',
        filter: '*.idea.*',
        handler: async () => {},
        backoff: [20, 40],
        inbox,
        log: quiet,
        ...options,
      });
      closing.push(() => consumer.stop(2_000));
      return consumer;
    },
  };
}

describe('consumer', () => {
  it('handles everything once, in order within an aggregate, several aggregates at a time', async () => {
    const b = await bench();
    const seen = new Map<string, number[]>();
    let running = 0;
    let most = 0;
    b.consume({
      concurrency: 4,
      handler: async (event) => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, 1));
        const list = seen.get(event.aggregate.id) ?? [];
        seen.set(event.aggregate.id, list);
        list.push(event.aggregate.version);
        running--;
      },
    });
    for (let i = 0; i < 120; i++) await b.publish(`a${i % 6}`);
    await until(() => [...seen.values()].flat().length === 120);
    for (const versions of seen.values())
      expect(versions).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(4);
  });

  it('gives the payload in its newest version with what travelled in the headers', async () => {
    const b = await bench();
    const got: unknown[] = [];
    b.consume({
      handler: async (event) => {
        got.push(event);
      },
    });
    await b.publish('点.1', { actorId: '李%雷', requestId: 'r-1', traceparent: '00-ab-cd-01' });
    await until(() => got.length === 1);
    expect(got[0]).toEqual({
      id: 'E0000000000000000000000001',
      type: 'idea.bodyStored',
      schemaVersion: 1,
      aggregate: { type: 'idea', id: '点.1', version: 1 },
      workspaceId: 'w1',
      actorId: '李%雷',
      requestId: 'r-1',
      at: '2026-11-30T09:12:05.123456Z',
      payload: { bodyVersion: 1 },
      traceparent: '00-ab-cd-01',
    });
  });

  it('makes poison a dead letter with its whole payload after the last try, while others flow', async () => {
    const b = await bench();
    let tries = 0;
    const fine: string[] = [];
    const consumer = b.consume({
      maxDeliver: 3,
      handler: async (event) => {
        if (event.aggregate.id === 'bad' && event.aggregate.version === 1) {
          tries++;
          throw new Error('cannot digest this');
        }
        fine.push(`${event.aggregate.id}${event.aggregate.version}`);
      },
    });
    const id = await b.publish('bad');
    await b.publish('bad');
    await b.publish('good');
    await until(() => fine.length === 2);
    // The one behind the poison had to wait for its turn.
    expect(fine).toEqual(['good1', 'bad2']);
    expect(tries).toBe(3);
    expect(b.inbox.dead).toHaveLength(1);
    expect(b.inbox.dead[0]).toMatchObject({
      consumer: 'test-v1',
      eventId: id,
      subject: `${b.events.prefix}.w1.idea.bad`,
      streamSeq: 1,
      payload: { bodyVersion: 1 },
      error: 'cannot digest this',
      attempts: 3,
    });
    expect(b.inbox.dead[0]?.headers['Ev-Type']).toBe('idea.bodyStored');
    await until(async () => (await consumer.figures()).ackPending === 0);
    expect(await consumer.figures()).toMatchObject({ lag: 0, ackFloorGap: 0, handled: 2, deadLettered: 1 });
  });

  it.each<[string, { type?: string; schemaVersion?: number; payload?: unknown }, RegExp]>([
    ['an unknown type', { type: 'idea.frobbed' }, /^unknown: idea\.frobbed/],
    ['a newer schema', { schemaVersion: 2 }, /^unknown: idea\.bodyStored version 2/],
    ['a payload that does not fit', { payload: { bodyVersion: 'x' } }, /^invalid: /],
  ])('parks %s at once with its reason', async (_, over, reason) => {
    const b = await bench();
    const handled: string[] = [];
    b.consume({
      types: ['idea.bodyStored'],
      handler: async (event) => {
        handled.push(event.aggregate.id);
      },
    });
    await b.publish('odd', over);
    await b.publish('fine');
    await until(() => handled.length === 1 && b.inbox.dead.length === 1);
    expect(handled).toEqual(['fine']);
    expect(b.inbox.dead[0]?.error).toMatch(reason);
    expect(b.inbox.dead[0]?.payload).toEqual(over.payload ?? { bodyVersion: 1 });
  });

  it('never counts an outage of a store as poison', async () => {
    const b = await bench();
    let tries = 0;
    const consumer = b.consume({
      maxDeliver: 2,
      handler: async () => {
        if (++tries <= 6) throw tries % 2 ? new StoreUnavailableError('cloudant') : new NotYetError('gap');
      },
    });
    await b.publish('a');
    await until(async () => (await consumer.figures()).handled === 1);
    expect(tries).toBe(7);
    expect(b.inbox.dead).toEqual([]);
  });

  it('keeps trying when the dead letter itself cannot be kept', async () => {
    const b = await bench();
    let refused = 0;
    const keep = b.inbox.deadLetter.bind(b.inbox);
    b.inbox.deadLetter = async (row) => {
      if (++refused <= 2) throw new StoreUnavailableError('mysql');
      await keep(row);
    };
    b.consume({});
    await b.publish('odd', { type: 'idea.frobbed' });
    await until(() => b.inbox.dead.length === 1);
    expect(refused).toBe(3);
  });

  it('has one effect when an event is delivered again after the effect, before the acknowledgement', async () => {
    const b = await bench();
    let deliveries = 0;
    b.consume({
      handler: async (event, delivery) => {
        deliveries++;
        await delivery.once(async (trx) => {
          trx.push(event.id);
        });
        if (deliveries === 1) throw new Error('crashed before the acknowledgement');
      },
    });
    const id = await b.publish('a');
    await until(() => deliveries === 2);
    expect(b.inbox.effects).toEqual([id]);
  });

  it('does not deliver again while a handler is slower than the acknowledgement wait', async () => {
    const b = await bench();
    let deliveries = 0;
    const consumer = b.consume({
      ackWaitMs: 600,
      handler: async () => {
        deliveries++;
        await new Promise((resolve) => setTimeout(resolve, 2_000));
      },
    });
    await b.publish('a');
    await until(async () => (await consumer.figures()).handled === 1);
    expect(deliveries).toBe(1);
    await until(async () => (await consumer.figures()).ackPending === 0);
    // Not even the server sent it twice.
    const info = await b.events.manager.consumers.info(b.events.stream, 'test-v1');
    expect(info.delivered.consumer_seq).toBe(1);
  });

  it('goes on after NATS was killed and started again, without a loss', async () => {
    const own = await NatsServer.start();
    closing.push(() => own.remove());
    const b = await bench(own.url, { deadlineMs: 1_000 });
    const seen = new Set<string>();
    b.consume({
      handler: async (event) => {
        seen.add(event.id);
      },
    });
    for (let i = 0; i < 50; i++) await b.publish(`a${i % 5}`);
    await until(() => seen.size > 0);
    await own.kill();
    await until(() => !b.events.connected);
    await own.start();
    await until(() => b.events.connected);
    for (let i = 0; i < 50; i++) await b.publish(`b${i % 5}`);
    await until(() => seen.size === 100, 20_000);
  });

  it('notices a line that has gone silent and pulls anew', async () => {
    const line = await startLine(server.port);
    closing.push(() => line.close());
    const b = await bench(line.url);
    const direct = await open(server.url, { prefix: b.events.prefix });
    closing.push(() => direct.close());
    const seen: string[] = [];
    let missed = 0;
    let began = 0;
    b.consume({
      // What the server said into the silence comes again after this.
      ackWaitMs: 3_000,
      handler: async (event) => {
        seen.push(event.id);
      },
      log: {
        ...quiet,
        debug: (fields) => {
          const { status } = fields as { status?: string };
          if (status === 'heartbeats_missed') missed++;
          if (status === 'next') began++;
        },
      },
    });
    await b.publish('a');
    await until(() => seen.length === 1);
    line.hold();
    await new Publisher(direct).publish(b.outbox.add('b'));
    await until(() => missed > 0, 15_000);
    const before = began;
    line.release();
    await until(() => seen.length === 2, 15_000);
    await until(() => began > before, 15_000);
  });

  it('is made anew when somebody deletes it', async () => {
    const b = await bench();
    const seen: string[] = [];
    b.consume({
      handler: async (event, delivery) => {
        await delivery.once(async () => {
          seen.push(event.id);
        });
      },
    });
    await b.publish('a');
    await until(() => seen.length === 1);
    await b.events.manager.consumers.delete(b.events.stream, 'test-v1');
    await b.publish('a');
    await until(() => seen.length === 2, 15_000);
  });

  it('finishes what it has in hand when it stops, and leaves the rest to another', async () => {
    const b = await bench();
    const done: string[] = [];
    const slow = b.consume({
      concurrency: 2,
      handler: async (event) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        done.push(event.id);
      },
    });
    for (let i = 0; i < 60; i++) await b.publish(`a${i}`);
    await until(() => done.length >= 2);
    await slow.stop();
    const before = done.length;
    expect(new Set(done).size).toBe(before);
    b.consume({
      handler: async (event) => {
        done.push(event.id);
      },
    });
    await until(() => new Set(done).size === 60);
    // Nothing was handled twice: the first one answered for all it had finished.
    expect(done).toHaveLength(60);
  });
});
