import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Bench, openBench, type Program, spawnWorker, streamOf, until } from './bench.ts';

let bench: Bench;
const running: Program[] = [];

beforeAll(async () => {
  bench = await openBench();
});
afterAll(async () => {
  await Promise.all(running.map((program) => program.end('SIGKILL')));
  await bench?.close();
});

const rowsOf = () =>
  bench.mysql.db
    .selectFrom('outbox')
    .select(['event_id', 'stream_seq', 'republished'])
    .orderBy('id')
    .execute();

it('has a purged stream filled again from the outbox, which the figures tell', async () => {
  const { core, actor, workspaceId } = bench;
  const post = (title: string) =>
    core.ideas.create(actor, { workspaceId, title, body: { text: title }, tags: [], status: 'open' });
  for (let i = 0; i < 10; i++) await post(`idea ${i}`);
  const first = await spawnWorker(bench.env, ['--roles', 'relay']);
  running.push(first.program);
  await until(async () => (await rowsOf()).every((row) => row.stream_seq !== null));
  await first.program.end('SIGTERM');
  const before = await streamOf(bench);
  expect(before.length).toBe((await rowsOf()).length);

  await bench.events.manager.streams.purge(bench.events.stream);
  await post('one more');
  const second = await spawnWorker(bench.env, ['--roles', 'relay']);
  running.push(second.program);
  await until(async () => {
    const rows = await rowsOf();
    return (await streamOf(bench)).length === rows.length && rows.every((row) => row.stream_seq !== null);
  });
  const stream = await streamOf(bench);
  const rows = await rowsOf();
  const plain = (id: string): string => id.replace(/:r\d+$/, '');
  expect(new Map(stream.map((event) => [plain(event.id), String(event.seq)]))).toEqual(
    new Map(rows.map((row) => [row.event_id, String(row.stream_seq)])),
  );
  expect(rows.filter((row) => row.republished === 1).length).toBe(before.length);
  for (const events of Map.groupBy(stream, (event) => event.aggregateId).values()) {
    const versions = events.map((event) => event.version);
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
  }
  const text = await (await fetch(`${second.url}/metrics`)).text();
  const figure = (name: string): number => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  expect(
    figure('sparkroom_auditor_lost_total') + figure('sparkroom_events_lost_before_successor_total'),
  ).toBe(before.length);
  expect(figure('sparkroom_auditor_last_look_timestamp_seconds')).toBeGreaterThan(Date.now() / 1_000 - 60);
}, 60_000);
