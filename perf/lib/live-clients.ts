/**
 * Many readers of live feeds, in a process of their own. Told `open`, it opens them and says how many are up; told
 * `results`, it gives what they heard.
 */
import { type IncomingMessage, request } from 'node:http';

export interface LiveOrder {
  url: string;
  token: string;
  /** Room of each reader. */
  rooms: string[];
  /** Of each reader: whether it stops reading once it is connected. */
  stalled: boolean[];
}

export interface LiveHeard {
  /** Connections that failed or ended. */
  broken: number;
  /** Items that came a second time or out of order. */
  disorder: number;
  resyncs: number;
  /** Stalled readers that were told to resync when they read again. */
  stalledResynced: number;
  /** Events heard by reader. */
  counts: number[];
  /** Sequence and time (milliseconds since 1970) of every event heard, one after the other. */
  heard: number[];
}

const opening = 64;
const found: LiveHeard = { broken: 0, disorder: 0, resyncs: 0, stalledResynced: 0, counts: [], heard: [] };
const stalled: IncomingMessage[] = [];

const now = (): number => performance.timeOrigin + performance.now();

/** Opens one feed. Resolves when its first item is there. */
function open(order: LiveOrder, reader: number): Promise<void> {
  found.counts[reader] = 0;
  const input = encodeURIComponent(JSON.stringify({ workspaceId: order.rooms[reader] }));
  return new Promise((resolve) => {
    const fail = (): void => {
      found.broken++;
      resolve();
    };
    const asking = request(`${order.url}/trpc/activity.live?input=${input}`, {
      agent: false,
      headers: { authorization: `Bearer ${order.token}`, accept: 'text/event-stream' },
    });
    asking.once('error', fail);
    asking.once('response', (response: IncomingMessage) => {
      if (response.statusCode !== 200) return fail();
      let rest = '';
      let last = 0;
      let up = false;
      response.setEncoding('utf8');
      response.once('close', () => {
        found.broken++;
      });
      response.on('data', (text: string) => {
        const at = now();
        rest += text;
        for (let end = rest.indexOf('\n\n'); end >= 0; end = rest.indexOf('\n\n')) {
          const block = rest.slice(0, end);
          rest = rest.slice(end + 2);
          const id = /^id: (\d+)$/m.exec(block)?.[1];
          if (id === undefined) continue;
          const seq = Number(id);
          if (up && seq <= last) found.disorder++;
          last = seq;
          if (block.includes('"kind":"event"')) {
            found.counts[reader] = (found.counts[reader] ?? 0) + 1;
            found.heard.push(seq, at);
          } else if (block.includes('"kind":"resync"')) {
            if (order.stalled[reader]) found.stalledResynced++;
            else found.resyncs++;
          }
          if (up) continue;
          up = true;
          if (order.stalled[reader]) {
            response.pause();
            stalled.push(response);
          }
          resolve();
        }
      });
    });
    asking.end();
  });
}

async function openAll(order: LiveOrder): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: opening }, async () => {
      while (next < order.rooms.length) await open(order, next++);
    }),
  );
}

process.on('message', (word: { open: LiveOrder } | 'results') => {
  if (word === 'results') {
    for (const response of stalled) response.resume();
    // Everything that the kernel kept comes before the word to resync.
    const end = now() + 60_000;
    const look = setInterval(() => {
      if (found.stalledResynced < stalled.length && now() < end) return;
      clearInterval(look);
      process.send?.(found);
    }, 200);
  } else
    void openAll(word.open).then(() => {
      process.send?.({ broken: found.broken });
    });
});
process.on('disconnect', () => process.exit(0));
