import { connectEvents, type Events, type EventsSettings, type Log } from '../src/index.ts';
import { readRange } from '../src/stream-reader.ts';
import { eventIdOf } from '../src/wire.ts';

export const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };

let number = 0;
/** A prefix nobody else uses. */
export const newPrefix = (): string => `t${process.pid}x${++number}`;

export async function open(url: string, over: Partial<EventsSettings> = {}): Promise<Events> {
  const events = await connectEvents({ url, prefix: newPrefix(), name: 'test', ...over }, quiet);
  await events.ensureStream();
  return events;
}

/** Everything in the stream, in order. */
export async function stored(
  events: Events,
  filter = '>',
): Promise<{ seq: number; id: string; subject: string }[]> {
  const messages = await readRange(events, `${events.prefix}.${filter}`, 1, Number.MAX_SAFE_INTEGER, 100_000);
  return (messages ?? []).map((m) => ({ seq: m.seq, id: eventIdOf(m, m.seq), subject: m.subject }));
}
