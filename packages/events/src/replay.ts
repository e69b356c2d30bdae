import type { EventName } from '@sparkroom/contract';
import { apiCode, apiCodes, reaching } from './connection.ts';
import { type ConsumerOptions, type ConsumerStart, notReplayed, startConsumer } from './consumer.ts';
import { pause } from './waiting.ts';

/** A run through what is past, under a name of its own. */
export interface Replay {
  /** Name of this generation: key of its inbox rows and dead letters. */
  name: string;
  /** Resolves when everything up to the present was handled or is a dead letter; the durable is gone then. */
  done: Promise<{ handled: number; deadLettered: number }>;
  /** Ends it before its time. */
  stop(): Promise<void>;
}

/** Milliseconds between two looks whether a replay has come to its end. */
const lookMs = 200;

/**
 * Handles past events once more, from a sequence or a time on, in a new generation of a consumer: its inbox knows none
 * of them, so their effects happen again. The consumer itself goes on beside it.
 * @throws Error when the consumer says that its events must not be replayed
 */
export function startReplay<N extends EventName = EventName, Trx = unknown>(
  options: ConsumerOptions<N, Trx>,
  from: Exclude<ConsumerStart, 'new'>,
): Replay {
  if (options.replay === 'never') throw notReplayed(options.name);
  const { events, log } = options;
  // Never a name that was used before: its inbox rows would make every event look handled.
  const name = `${options.name.replace(/-(v\d+|r[0-9a-z]+)$/, '')}-r${Date.now().toString(36)}`;
  const consumer = startConsumer({ ...options, name, start: from });
  const stopping = new AbortController();

  async function caughtUp(): Promise<boolean> {
    try {
      const info = await reaching(() => events.manager.consumers.info(events.stream, name));
      return info.num_pending === 0 && info.num_ack_pending === 0;
    } catch {
      // Not made yet, or NATS is away.
      return false;
    }
  }

  const done = (async () => {
    while (!stopping.signal.aborted && !(await caughtUp())) await pause(lookMs, stopping.signal);
    const { handled, deadLettered } = await consumer.figures().catch(() => ({ handled: 0, deadLettered: 0 }));
    await consumer.stop();
    await reaching(() => events.manager.consumers.delete(events.stream, name)).catch((error: unknown) => {
      if (apiCode(error) !== apiCodes.consumerNotFound) log.warn({ consumer: name }, 'consumer not removed');
    });
    log.info({ consumer: name, handled, deadLettered }, 'replay ended');
    return { handled, deadLettered };
  })();

  return {
    name,
    done,
    async stop() {
      stopping.abort();
      await done;
    },
  };
}
