import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort, type Host, openHost, relayOf, type Somebody, until } from './host.ts';

/** A server in a process of its own, on the stores of the host. */
interface Process {
  url: string;
  end(signal: NodeJS.Signals): Promise<void>;
}

let host: Host;
let relay: { stop(): Promise<void> };
let ana: Somebody;
let workspaceId: string;
const processes = new Set<Process>();

beforeAll(async () => {
  host = await openHost('hops');
  relay = relayOf(host);
  ana = await host.somebody('Ana');
  workspaceId = await host.workspace(ana);
});
afterAll(async () => {
  await Promise.all([...processes].map((process) => process.end('SIGKILL')));
  await relay?.stop();
  await host?.close();
});

async function startProcess(more: NodeJS.ProcessEnv = {}): Promise<Process> {
  const port = await freePort();
  const main = new URL('../src/main.ts', import.meta.url).pathname;
  const child: ChildProcess = spawn(process.execPath, [main], {
    env: { ...host.env, SPARKROOM_PORT: String(port), SPARKROOM_URL: host.url, ...more },
    stdio: 'ignore',
  });
  const url = `http://127.0.0.1:${port}`;
  const started: Process = {
    url,
    async end(signal) {
      processes.delete(started);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill(signal);
      await exited;
    },
  };
  processes.add(started);
  await until(async () => (await fetch(`${url}/healthz`).catch(() => null))?.ok === true, 30_000);
  return started;
}

interface Heard {
  id: string;
  type?: string;
  subject?: string;
}

/**
 * Reads a live feed as a browser does: the last id goes into the header of the next connection.
 * @returns how it ended: with the server's farewell, or without (then a browser comes back)
 */
async function read(url: string, heard: Heard[], signal: AbortSignal): Promise<'farewell' | 'cut'> {
  const lastId = heard.at(-1)?.id;
  const input = encodeURIComponent(JSON.stringify({ workspaceId }));
  let farewell = false;
  try {
    const response = await fetch(`${url}/trpc/activity.live?input=${input}`, {
      headers: { ...ana.bearer, accept: 'text/event-stream', ...(lastId ? { 'last-event-id': lastId } : {}) },
      signal,
    });
    let rest = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      rest += decoder.decode(chunk, { stream: true });
      const blocks = rest.split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];
        if (field('event') === 'return') farewell = true;
        const id = field('id');
        if (!id) continue;
        const item = JSON.parse(field('data') ?? '{}') as { type?: string; aggregate?: { id: string } };
        heard.push({
          id,
          ...(item.type && { type: item.type }),
          ...(item.aggregate && { subject: item.aggregate.id }),
        });
      }
    }
  } catch {
    // The process was killed, or the reader went away.
  }
  return farewell ? 'farewell' : 'cut';
}

const post = async (title: string): Promise<string> => {
  const { json } = await host.mutate(
    'ideas.create',
    { workspaceId, title, body: { text: 'x' }, status: 'open' },
    ana.bearer,
  );
  return json.result.data.id as string;
};

const created = (heard: readonly Heard[]) => heard.filter((item) => item.type === 'idea.created');

test('a reader that goes from process to process, some of them killed, misses nothing and hears nothing twice', async () => {
  const posted: string[] = [];
  const heard: Heard[] = [];
  const first = read((await startProcess()).url, heard, AbortSignal.timeout(60_000));
  await until(() => heard.length > 0);
  const stop = new AbortController();
  const writing = (async () => {
    while (!stop.signal.aborted) posted.push(await post(`idea ${posted.length}`));
  })();
  let reading = first;
  for (let hop = 0; hop < 4; hop++) {
    const before = created(heard).length;
    await until(() => created(heard).length >= before + 10);
    const [old] = processes;
    const next = await startProcess();
    // Killed, or ended politely: either way without a farewell, or the browser would stay away.
    await old?.end(hop % 2 === 0 ? 'SIGKILL' : 'SIGTERM');
    expect(await reading).toBe('cut');
    reading = read(next.url, heard, AbortSignal.timeout(60_000));
  }
  stop.abort();
  await writing;
  await until(() => created(heard).length >= posted.length);
  expect(created(heard).map((item) => item.subject)).toEqual([
    ...new Set(created(heard).map((i) => i.subject)),
  ]);
  expect(new Set(created(heard).map((item) => item.subject))).toEqual(new Set(posted));
  const ids = heard.map((item) => Number(item.id));
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
}, 120_000);

test('a feed does not live longer than it may, and goes on at the next connection', async () => {
  const { url } = await startProcess({ SPARKROOM_LIVE_MS: '1000' });
  const heard: Heard[] = [];
  const began = performance.now();
  expect(await read(url, heard, AbortSignal.timeout(30_000))).toBe('cut');
  const lived = performance.now() - began;
  expect(lived).toBeGreaterThan(700);
  expect(lived).toBeLessThan(6_000);
  const id = await post('while nobody listens');
  await until(async () => {
    await read(url, heard, AbortSignal.timeout(30_000));
    return created(heard).length > 0;
  });
  expect(created(heard).map((item) => item.subject)).toEqual([id]);
}, 60_000);
