/**
 * Typed subscriber for programs outside Sparkroom. Not part of the package's main entry, which runs in browsers too:
 * `import { connectSubscriber, once, fileStore } from '@sparkroom/client/subscriber'`.
 */
import type { AnyDomainEvent, EventName } from '@sparkroom/contract';
import {
  type Consumer,
  type ConsumerFigures,
  connectEvents,
  type Log,
  startConsumer,
} from '@sparkroom/events';

export type { AnyDomainEvent, DomainEvent, EventName, EventPayload } from '@sparkroom/contract';
export { fileStore, memoryStore, type OnceStore, once } from './once.ts';

export interface SubscriberOptions {
  /** `nats://host:port`, several separated by commas. */
  url: string;
  /** As `npm run subscriber` printed them. */
  credentials: { user: string; password: string };
  /** Of the program, shown to operators. */
  name: string;
  /** Root of the subjects. Default `sparkroom`. */
  prefix?: string;
  /** Milliseconds to reach the server at the start. Default 10,000. */
  connectMs?: number;
  log?: Log;
}

export interface SubscribeOptions {
  /** Name of the durable that was made for the subscriber; the place in the stream belongs to it. Default: the user. */
  durable?: string;
  /** Handlers at once, each for another aggregate. Default 8. */
  concurrency?: number;
  /** Milliseconds to wait after the 1st, 2nd ... failure; the last repeats. */
  backoff?: readonly number[];
}

export interface Subscriber {
  /**
   * Handles events of these types, each at least once, those of one aggregate in order, from where the durable was left,
   * through restarts and outages. A handler that throws gets the event again, with growing delays; later events of its
   * aggregate wait a while for it. Types outside the list are skipped, also those newer than this package.
   */
  subscribe<const N extends EventName>(
    types: readonly N[],
    handler: (event: Extract<AnyDomainEvent, { type: N }>) => Promise<void>,
    options?: SubscribeOptions,
  ): { figures(): Promise<ConsumerFigures>; stop(): Promise<void> };
  /** Finishes what is in hand and closes the connection. */
  close(): Promise<void>;
}

/** The server does not know these credentials, or they do not allow what was asked. */
export class CredentialsRefusedError extends Error {
  override name = 'CredentialsRefusedError';
}

const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Connects to the event stream.
 * @throws CredentialsRefusedError when the server refuses them
 * @throws StoreUnavailableError when no server answers in time
 */
export async function connectSubscriber(options: SubscriberOptions): Promise<Subscriber> {
  const { credentials, log = quiet } = options;
  const login = `${encodeURIComponent(credentials.user)}:${encodeURIComponent(credentials.password)}@`;
  const url = options.url
    .split(',')
    .map((one) => one.trim().replace(/^(\w+:\/\/)([^@]*@)?/, `$1${login}`))
    .join(',');
  const events = await connectEvents(
    {
      url,
      prefix: options.prefix ?? 'sparkroom',
      name: options.name,
      ...(options.connectMs === undefined ? {} : { connectMs: options.connectMs }),
      outsider: { name: credentials.user },
    },
    log,
  ).catch((error: unknown) => {
    const code = (error as { cause?: { code?: string } }).cause?.code;
    if (code !== 'AUTHORIZATION_VIOLATION') throw error;
    throw new CredentialsRefusedError(
      `The event server does not accept the credentials of ${credentials.user}`,
    );
  });
  const consumers = new Set<Consumer>();
  return {
    subscribe(types, handler, { durable = credentials.user, concurrency, backoff } = {}) {
      const consumer = startConsumer({
        events,
        name: durable,
        // The durable has its own, which the rights of the subscriber are about.
        filter: '>',
        types,
        unknown: 'skip',
        handler,
        log,
        ...(concurrency === undefined ? {} : { concurrency }),
        ...(backoff === undefined ? {} : { backoff }),
      });
      consumers.add(consumer);
      return {
        figures: () => consumer.figures(),
        async stop() {
          consumers.delete(consumer);
          await consumer.stop();
        },
      };
    },
    async close() {
      await Promise.all([...consumers].map((consumer) => consumer.stop()));
      await events.close();
    },
  };
}
