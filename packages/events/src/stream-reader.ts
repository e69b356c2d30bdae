import { type ConsumerMessages, type JsMsg, nuid } from 'nats';
import { type Events, nanos, reaching } from './connection.ts';
import { eventIdOf } from './wire.ts';

/** The stream no longer is what the reader saw before: made anew, rolled back, or aged beyond the wanted place. */
export class StreamChangedError extends Error {
  override name = 'StreamChangedError';
}

/** A short-lived consumer of one reader, gone by itself after half a minute without pulls. */
async function ephemeral(
  events: Events,
  from: number,
  filter: string | undefined,
  headersOnly = false,
): Promise<string> {
  const name = `reader-${nuid.next()}`;
  await reaching(() =>
    events.manager.consumers.add(events.stream, {
      name,
      ack_policy: 'none',
      deliver_policy: 'by_start_sequence',
      opt_start_seq: from,
      replay_policy: 'instant',
      inactive_threshold: nanos(30_000),
      mem_storage: true,
      num_replicas: 1,
      ...(filter === undefined ? {} : { filter_subject: filter }),
      ...(headersOnly ? { headers_only: true } : {}),
    } as Parameters<typeof events.manager.consumers.add>[1]),
  );
  return name;
}

/**
 * Follows the whole stream from a sequence on, in order and without gaps, until trouble or `signal`.
 * @returns when `signal` aborted
 * @throws StoreUnavailableError or StreamChangedError: the caller looks at the stream and follows again
 */
export async function follow(
  events: Events,
  from: number,
  onMessage: (message: JsMsg) => void,
  signal: AbortSignal,
): Promise<void> {
  const name = await ephemeral(events, from, undefined);
  let messages: ConsumerMessages | undefined;
  const end = (): void => void messages?.close();
  try {
    const consumer = await reaching(() => events.jetstream.consumers.get(events.stream, name));
    messages = await consumer.consume({
      max_messages: 500,
      expires: 10_000,
      idle_heartbeat: 2_500,
      abort_on_missing_resource: true,
    });
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) return end();
    const watched = messages;
    void (async () => {
      for await (const status of await watched.status())
        if (status.type === 'heartbeats_missed' && Number(status.data) >= 2) watched.close();
    })();
    let delivered = 0;
    for await (const message of messages) {
      // A consumer without acknowledgements never repeats: a jump means that something was lost on the way.
      if (message.info.deliverySequence !== ++delivered) throw new StreamChangedError('deliveries were lost');
      onMessage(message);
    }
    if (!signal.aborted) throw new StreamChangedError('heartbeats were missed');
  } finally {
    signal.removeEventListener('abort', end);
    end();
    events.manager.consumers.delete(events.stream, name).catch(() => undefined);
  }
}

/**
 * Reads what is stored under `filter` from sequence `from` to `to` (inclusive), at most `most` messages.
 * @returns null when there are more than `most`
 * @throws StoreUnavailableError when the stream cannot be read in time
 */
export async function readRange(
  events: Events,
  filter: string,
  from: number,
  to: number,
  most: number,
): Promise<JsMsg[] | null> {
  const name = await ephemeral(events, from, filter);
  try {
    const consumer = await reaching(() => events.jetstream.consumers.get(events.stream, name));
    const pending = (await reaching(() => consumer.info())).num_pending;
    if (pending > most) return null;
    const found: JsMsg[] = [];
    while (found.length < pending) {
      const messages = await reaching(() =>
        consumer.fetch({
          max_messages: Math.min(200, pending - found.length),
          expires: Math.max(1_000, events.deadlineMs),
        }),
      );
      const before = found.length;
      for await (const message of messages) found.push(message);
      if (found.length === before)
        await reaching(() => Promise.reject(new Error('the stream did not deliver in time')));
    }
    return found.filter((message) => message.seq <= to);
  } finally {
    events.manager.consumers.delete(events.stream, name).catch(() => undefined);
  }
}

/**
 * Event ids by sequence of what is stored from `from` to `to` (inclusive); bodies do not travel.
 * @throws StoreUnavailableError when the stream cannot be read in time
 */
export async function readIds(events: Events, from: number, to: number): Promise<Map<number, string>> {
  const ids = new Map<number, string>();
  const name = await ephemeral(events, Math.max(1, from), undefined, true);
  try {
    const consumer = await reaching(() => events.jetstream.consumers.get(events.stream, name));
    let pending = (await reaching(() => consumer.info())).num_pending;
    for (let at = 0; pending > 0 && at < to; ) {
      const messages = await reaching(() =>
        consumer.fetch({
          max_messages: Math.min(500, pending, to - Math.max(at, from - 1)),
          expires: Math.max(1_000, events.deadlineMs),
        }),
      );
      const before = pending;
      for await (const message of messages) {
        at = message.seq;
        pending = message.info.pending;
        if (at <= to) ids.set(at, eventIdOf(message, at));
      }
      if (pending === before)
        await reaching(() => Promise.reject(new Error('the stream did not deliver in time')));
    }
    return ids;
  } finally {
    events.manager.consumers.delete(events.stream, name).catch(() => undefined);
  }
}
