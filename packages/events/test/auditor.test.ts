import { afterEach, describe, expect, it } from 'vitest';
import { type Auditor, type Events, startAuditor, startConsumer, startRelay } from '../src/index.ts';
import { open, quiet, stored } from './helpers.ts';
import { MemoryInbox, MemoryOutbox } from './memory-ports.ts';
import { NatsServer, until } from './nats-server.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Place {
  server: NatsServer;
  events: Events;
  outbox: MemoryOutbox;
  auditor: Auditor;
  relay(): { stop(): Promise<void> };
}

/** A server of the test's own, with an auditor that looks only when asked or at a reconnect. */
async function place(everyMs = 600_000): Promise<Place> {
  const server = await NatsServer.start();
  closing.push(() => server.remove());
  const events = await open(server.url, { deadlineMs: 1_000 });
  closing.push(() => events.close());
  const outbox = new MemoryOutbox();
  const auditor = startAuditor({ outbox: outbox.auditPort(), events, log: quiet, everyMs });
  closing.push(() => auditor.stop());
  const relay = () => {
    const started = startRelay({ outbox: outbox.port(), events, log: quiet, partitions: 1, idleMs: 50 });
    closing.push(() => started.stop());
    return started;
  };
  return { server, events, outbox, auditor, relay };
}

const fill = (outbox: MemoryOutbox, count: number): void => {
  for (let i = 0; i < count; i++) outbox.add(`a${i % 7}`);
};
const allOut = (outbox: MemoryOutbox) => until(() => outbox.pendingCount() === 0, 20_000, 'not all are out');

/** Every row is in the stream at its place; each aggregate's events are in order, each once. */
async function expectWhole({ events, outbox }: Place): Promise<void> {
  const stream = await stored(events);
  const bySeq = new Map(stream.map((message) => [message.seq, message.id]));
  for (const row of outbox.rows) expect(bySeq.get(row.streamSeq ?? 0)).toBe(row.eventId);
  for (const [subject, messages] of Map.groupBy(stream, (message) => message.subject)) {
    const rows = outbox.rows.filter((row) => `${events.prefix}.${row.subject}` === subject);
    expect(messages.map((message) => message.id)).toEqual(rows.map((row) => row.eventId));
  }
}

describe('auditor', () => {
  it('finds nothing where nothing is lost, without reading the stream', async () => {
    const at = await place();
    at.relay();
    fill(at.outbox, 200);
    await allOut(at.outbox);
    for (let i = 0; i < 2; i++)
      expect(await at.auditor.audit()).toEqual({ lost: 0, ghost: false, whole: false });
    expect(at.outbox.rows.every((row) => row.republished === 0)).toBe(true);
  });

  it('publishes again what a purge took, under ids that the server does not remember', async () => {
    const at = await place();
    at.relay();
    fill(at.outbox, 50);
    await allOut(at.outbox);
    await at.events.manager.streams.purge(at.events.stream);
    expect(await stored(at.events)).toEqual([]);
    expect(await at.auditor.audit()).toEqual({ lost: 50, ghost: false, whole: true });
    await allOut(at.outbox);
    await expectWhole(at);
    expect(await at.auditor.audit()).toEqual({ lost: 0, ghost: false, whole: false });
    expect(at.auditor.figures()).toMatchObject({ lost: 50, ghosts: 0 });
  });

  it('publishes again what was cut out of the middle, and only that', async () => {
    const at = await place();
    at.relay();
    fill(at.outbox, 70);
    await allOut(at.outbox);
    await at.auditor.audit();
    await at.events.manager.streams.purge(at.events.stream, { filter: `${at.events.prefix}.*.idea.a3` });
    expect((await at.auditor.audit()).lost).toBe(10);
    await allOut(at.outbox);
    await expectWhole(at);
    // The holes are known now.
    expect((await at.auditor.audit()).whole).toBe(false);
  });

  it('fills a stream that was deleted and made anew', async () => {
    const at = await place();
    const relay = at.relay();
    fill(at.outbox, 30);
    await allOut(at.outbox);
    await at.auditor.audit();
    await relay.stop();
    await at.events.manager.streams.delete(at.events.stream);
    await at.events.ensureStream();
    expect((await at.auditor.audit()).lost).toBe(30);
    at.relay();
    await allOut(at.outbox);
    await expectWhole(at);
  });

  it('notices at the reconnect that the store was rolled back, also where new events have taken the places', async () => {
    const at = await place();
    const relay = at.relay();
    fill(at.outbox, 35);
    await allOut(at.outbox);
    await at.auditor.audit();
    await at.server.kill('SIGTERM');
    await at.server.keepCopy();
    await at.server.start();
    fill(at.outbox, 35);
    await allOut(at.outbox);
    await relay.stop();
    await at.server.kill();
    await at.server.rollBack();
    // Other aggregates, so that no fence stops them: as many as were lost, and one more.
    await at.server.start();
    await until(() => at.events.connected);
    await until(() => at.auditor.figures().lost === 35, 10_000, 'the loss was not noticed at the reconnect');
    for (let i = 0; i < 36; i++) at.outbox.add(`new${i}`);
    at.relay();
    await allOut(at.outbox);
    await expectWhole(at);
  });

  it('notices a roll-back behind which the numbers were given out again', async () => {
    const at = await place();
    const relay = at.relay();
    for (let i = 0; i < 20; i++) at.outbox.add(`a${i}`);
    await allOut(at.outbox);
    await at.auditor.audit();
    await relay.stop();
    // Ten more that only the table knows, then ten others at the same places.
    for (let i = 0; i < 10; i++) {
      const row = at.outbox.add(`lost${i}`);
      const kept = at.outbox.rows.find((one) => one.id === row.id);
      if (kept) kept.streamSeq = 21 + i;
    }
    for (let i = 0; i < 11; i++) at.outbox.add(`b${i}`);
    at.relay();
    await allOut(at.outbox);
    expect((await at.auditor.audit()).lost).toBe(10);
    await allOut(at.outbox);
    await expectWhole(at);
  });

  it('sets consumers back that the roll-back has left ahead of the stream', async () => {
    const at = await place();
    const relay = at.relay();
    const inbox = new MemoryInbox();
    const consumer = startConsumer<'idea.bodyStored', string[]>({
      events: at.events,
      name: 'test-v1',
      filter: '*.idea.*',
      inbox,
      log: quiet,
      handler: async ({ id }, { once }) => void (await once(async (trx) => void trx.push(id))),
    });
    closing.push(() => consumer.stop(2_000));
    const allSeen = () => at.outbox.rows.every(({ eventId }) => inbox.effects.includes(eventId));
    fill(at.outbox, 14);
    await until(allSeen);
    await at.server.kill('SIGTERM');
    await at.server.keepCopy();
    await at.server.start();
    fill(at.outbox, 35);
    await until(() => at.outbox.pendingCount() === 0 && allSeen());
    await until(async () => (await consumer.figures()).ackFloorGap === 0);
    await relay.stop();
    await at.server.kill('SIGTERM');
    // What the consumer has acknowledged was on disk, the messages were not.
    await at.server.rollBackMessages(at.events.stream);
    await at.server.start();
    await until(() => at.auditor.figures().lost === 35, 10_000, 'the loss was not noticed');
    for (let i = 0; i < 5; i++) at.outbox.add(`new${i}`);
    at.relay();
    await allOut(at.outbox);
    await until(allSeen, 15_000, 'new events were passed over');
    expect(new Set(inbox.effects).size).toBe(inbox.effects.length);
    await expectWhole(at);
  });

  it('reports an event that the database has lost', async () => {
    const at = await place();
    at.relay();
    fill(at.outbox, 5);
    await allOut(at.outbox);
    at.outbox.rows.pop();
    expect(await at.auditor.audit()).toMatchObject({ ghost: true, lost: 0 });
    await at.auditor.audit();
    expect(at.auditor.figures().ghosts).toBe(1);
  });
});

describe('relay', () => {
  it('never lets a later event of an aggregate overtake those that the stream has lost', async () => {
    const at = await place();
    const relay = at.relay();
    for (let i = 0; i < 2; i++) at.outbox.add('a');
    await allOut(at.outbox);
    await at.server.kill('SIGTERM');
    await at.server.keepCopy();
    await at.server.start();
    for (let i = 0; i < 3; i++) at.outbox.add('a');
    await allOut(at.outbox);
    await relay.stop();
    await at.auditor.stop();
    await at.server.kill();
    await at.server.rollBack();
    await at.server.start();
    await until(() => at.events.connected);
    at.outbox.add('a');
    at.relay();
    await allOut(at.outbox);
    await expectWhole(at);
    expect(at.outbox.rows.map((row) => row.republished)).toEqual([0, 0, 1, 1, 1, 0]);
  });

  it('goes on where the stream has let earlier events go and the outbox keeps none', async () => {
    const at = await place();
    for (let i = 0; i < 4; i++) at.outbox.add('a');
    at.outbox.rows.splice(0, 3);
    at.relay();
    await allOut(at.outbox);
    expect(await stored(at.events)).toHaveLength(1);
  });
});
