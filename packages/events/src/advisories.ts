import { apiCode, apiCodes, type Events, reaching } from './connection.ts';

/** What the server said about a consumer that gave an event up. */
export interface Advisory {
  kind: 'max_deliver' | 'terminated';
  consumer: string;
  streamSeq: number;
  deliveries: number;
  at: string;
}

/** Shape of `io.nats.jetstream.advisory.v1.max_deliver` and `.terminated`, as far as it is read here. */
interface Told {
  type: string;
  timestamp: string;
  consumer: string;
  stream_seq: number;
  deliveries: number;
}

/**
 * The newest advisories, newest first.
 * @throws StoreUnavailableError when NATS cannot be reached
 */
export async function readAdvisories(events: Events, limit: number): Promise<Advisory[]> {
  const { manager, advisories } = events;
  const found: Advisory[] = [];
  try {
    const { state } = await reaching(() => manager.streams.info(advisories));
    for (let seq = state.last_seq; seq >= state.first_seq && seq > 0 && found.length < limit; seq--) {
      const message = await reaching(() => manager.streams.getMessage(advisories, { seq }));
      const told = message.json<Told>();
      found.push({
        kind: told.type.includes('max_deliver') ? 'max_deliver' : 'terminated',
        consumer: told.consumer,
        streamSeq: told.stream_seq,
        deliveries: told.deliveries,
        at: told.timestamp,
      });
    }
  } catch (error) {
    const code = apiCode(error);
    if (code !== apiCodes.streamNotFound && code !== apiCodes.messageNotFound) throw error;
  }
  return found;
}

/**
 * How many there have ever been.
 * @throws StoreUnavailableError when NATS cannot be reached
 */
export async function countAdvisories(events: Events): Promise<number> {
  try {
    return (await reaching(() => events.manager.streams.info(events.advisories))).state.last_seq;
  } catch (error) {
    if (apiCode(error) === apiCodes.streamNotFound) return 0;
    throw error;
  }
}
