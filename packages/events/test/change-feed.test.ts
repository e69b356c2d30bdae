import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type ChangeFeed, type Events, openChangeFeed } from '../src/index.ts';
import { Publisher } from '../src/publisher.ts';
import { open, quiet } from './helpers.ts';
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

async function listen() {
  const events: Events = await open(server.url, { deadlineMs: 1_000 });
  const outbox = new MemoryOutbox();
  const publisher = new Publisher(events);
  const heard: string[] = [];
  const beats: number[] = [];
  let interruptions = 0;
  const feed: ChangeFeed = openChangeFeed({
    events,
    log: quiet,
    beatMs: 100,
    onEvent: (event) => heard.push(event.aggregate.id),
    onBeat: (at) => beats.push(at),
    onInterrupted: () => interruptions++,
  });
  closing.push(() => feed.close().then(() => events.close()));
  return {
    feed,
    heard,
    beats,
    interruptions: () => interruptions,
    publish: (aggregate: string) => publisher.publish(outbox.add(aggregate)),
    /** Everything up to now has been given: a beat that was asked for after this call. */
    async beat() {
      const now = performance.now();
      await until(() => (beats.at(-1) ?? 0) > now);
    },
  };
}

describe('change feed', () => {
  it('gives every event from its start on, and beats only behind what it gave', async () => {
    const { heard, beat, publish } = await listen();
    await beat();
    for (let i = 0; i < 20; i++) await publish(`i${i}`);
    await beat();
    expect(heard).toEqual(Array.from({ length: 20 }, (_, i) => `i${i}`));
  });

  it('does not beat while NATS is away, says that it was interrupted, and goes on', async () => {
    const { heard, beats, beat, publish, interruptions } = await listen();
    await beat();
    const before = interruptions();
    await server.kill();
    const away = performance.now();
    await until(() => interruptions() > before);
    expect(beats.every((at) => at <= away)).toBe(true);
    await server.start();
    await beat();
    await publish('after');
    await until(() => heard.includes('after'));
  });

  it('closes while NATS is away', async () => {
    const { feed, beat } = await listen();
    await beat();
    await server.kill();
    await feed.close();
    await server.start();
  });
});
