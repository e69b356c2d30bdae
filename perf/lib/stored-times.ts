import type { Events } from '@sparkroom/events';

/**
 * When the server stored each event, by event id, in milliseconds since 1970 with fractions: its own time stamps, so
 * that whoever reads them adds nothing.
 */
export async function storedTimes(events: Events): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  const name = `times-${process.pid}-${Date.now()}`;
  type Config = Parameters<typeof events.manager.consumers.add>[1];
  await events.manager.consumers.add(events.stream, {
    name,
    ack_policy: 'none',
    deliver_policy: 'all',
    replay_policy: 'instant',
    headers_only: true,
    mem_storage: true,
    inactive_threshold: 60_000_000_000,
  } as Config);
  const consumer = await events.jetstream.consumers.get(events.stream, name);
  let pending = (await consumer.info()).num_pending;
  while (pending > 0) {
    const before = pending;
    for await (const message of await consumer.fetch({
      max_messages: Math.min(1_000, pending),
      expires: 10_000,
    })) {
      pending = message.info.pending;
      const id = message.headers?.get('Nats-Msg-Id').replace(/:r\d+$/, '');
      if (id && !times.has(id)) times.set(id, message.info.timestampNanos / 1e6);
    }
    if (pending === before) throw new Error('The stream could not be read.');
  }
  await events.manager.consumers.delete(events.stream, name);
  return times;
}
