import { StoreUnavailableError } from '@sparkroom/pools';
import {
  connect,
  type JetStreamClient,
  type JetStreamManager,
  type NatsConnection,
  type StreamInfo,
} from 'nats';
import { type Log, reasonOf } from './log.ts';
import { growing, pause, within } from './waiting.ts';

export interface EventsSettings {
  /** `nats://[user:password@]host:port`, several separated by commas. */
  url: string;
  /** Root of all subjects; the stream's name is its upper case. */
  prefix: string;
  /** Shown by the server's monitoring: which program this connection belongs to. */
  name: string;
  /** Milliseconds a request to the server may take. Default 5,000. */
  deadlineMs?: number;
  /** Milliseconds to reach the server at the start. Default 10,000. */
  connectMs?: number;
  /** Milliseconds in which the server itself refuses a repeated message id. Default two minutes. */
  duplicateWindowMs?: number;
  /** Milliseconds an event stays in the stream. Default 30 days. */
  maxAgeMs?: number;
  /** Copies of the stream in a cluster. Default 1. */
  replicas?: number;
  /**
   * A subscriber of another organisation, with few rights: it uses the durable that was made for it and changes nothing.
   * Its answers come to subjects of its own, `_INBOX_<name>.>`, which nobody else may hear.
   */
  outsider?: { name: string };
}

/** Largest event with its headers, in bytes: the server's default `max_payload`. */
export const maxEventBytes = 1_048_576;

/** An open connection to JetStream. */
export interface Events {
  readonly prefix: string;
  readonly stream: string;
  /** Small stream that keeps what the server says about consumers that give events up. */
  readonly advisories: string;
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
  /** False while the client is trying to reconnect. */
  readonly connected: boolean;
  readonly deadlineMs: number;
  /** True for a subscriber with few rights. */
  readonly outsider: boolean;
  /**
   * Makes the stream when it is missing and brings its limits up to date. Safe when several do it at once.
   * @throws StoreUnavailableError when NATS cannot be reached
   * @throws Error when the server has no JetStream
   */
  ensureStream(): Promise<void>;
  /**
   * State of the stream; made first when it is missing.
   * @throws StoreUnavailableError when NATS cannot be reached
   */
  streamInfo(): Promise<StreamInfo>;
  /**
   * Readiness: the server answers and has the stream.
   * @throws StoreUnavailableError when it does not, or when `signal` aborts
   */
  ping(signal: AbortSignal): Promise<void>;
  /** Tells relays that something was committed. Fire and forget: polling finds what this loses. */
  wakeOutbox(): void;
  /** Sends what is buffered and closes. Stop relays, consumers and feeds first. */
  close(): Promise<void>;
}

/** Core NATS subject that wakes relays; outside the stream's subjects. */
export function wakeSubject(prefix: string): string {
  return `${prefix}-wake.outbox`;
}

/** Prefix of the subjects to which the answers for an outsider come. */
export const inboxOf = (name: string): string => `_INBOX_${name}`;

/** Reads SPARKROOM_NATS_URL, SPARKROOM_NATS_PREFIX and SPARKROOM_NATS_REPLICAS. @throws Error naming what is missing or wrong */
export function readEventsSettings(env: NodeJS.ProcessEnv, name: string): EventsSettings {
  const url = env.SPARKROOM_NATS_URL;
  if (!url) throw new Error('SPARKROOM_NATS_URL is not set: give the address of NATS, nats://host:port');
  const prefix = env.SPARKROOM_NATS_PREFIX ?? 'sparkroom';
  if (!/^[a-z][a-z0-9-]*$/.test(prefix))
    throw new Error('SPARKROOM_NATS_PREFIX must be lower-case letters, digits and dashes');
  const replicas = Number(env.SPARKROOM_NATS_REPLICAS || 1);
  if (![1, 3, 5].includes(replicas))
    throw new Error('SPARKROOM_NATS_REPLICAS must be 1, or 3 or 5 in a cluster of as many servers');
  return { url, prefix, name, replicas };
}

/** Milliseconds to the nanoseconds that JetStream's configuration uses. */
export const nanos = (ms: number): number => ms * 1_000_000;

interface ApiFault {
  code?: string;
  api_error?: { err_code?: number; code?: number };
}

/** JetStream's own error number, or undefined for other errors. */
export function apiCode(error: unknown): number | undefined {
  return (error as ApiFault | undefined)?.api_error?.err_code;
}

/** JetStream error numbers that this package decides on. */
export const apiCodes = {
  consumerNotFound: 10014,
  messageNotFound: 10037,
  noJetStreamForAccount: 10039,
  streamNameInUse: 10058,
  streamNotFound: 10059,
  wrongLastSequence: 10071,
} as const;

/** Turns what the driver throws into StoreUnavailableError, except answers in which JetStream refuses a request. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof StoreUnavailableError || apiCode(error) !== undefined) return error;
  const silent = (error as ApiFault | undefined)?.code === '503';
  return new StoreUnavailableError('nats', {
    cause: error,
    ...(silent ? { detail: 'JetStream does not answer; the server needs the option -js' } : {}),
  });
}

/** Runs a request to NATS; its failures to reach the server come out as StoreUnavailableError. */
export async function reaching<T>(request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw asUnavailable(error);
  }
}

function parseUrl(url: string): { servers: string[]; user?: string; pass?: string; token?: string } {
  const login: { user?: string; pass?: string; token?: string } = {};
  const servers = url.split(',').map((one) => {
    let parsed: URL;
    try {
      parsed = new URL(one.trim());
    } catch {
      throw new Error('The address of NATS is not valid: it must look like nats://host:port');
    }
    if (parsed.username && parsed.password) {
      login.user = decodeURIComponent(parsed.username);
      login.pass = decodeURIComponent(parsed.password);
    } else if (parsed.username) login.token = decodeURIComponent(parsed.username);
    return `${parsed.protocol}//${parsed.host}`;
  });
  return { servers, ...login };
}

/**
 * Connects to NATS and keeps the connection: the client reconnects for as long as the process lives (the driver's
 * default gives up after 20 s), and notices a dead peer after 40 s.
 * @throws StoreUnavailableError when no server answers within `connectMs`
 */
export async function connectEvents(settings: EventsSettings, log: Log): Promise<Events> {
  const deadlineMs = settings.deadlineMs ?? 5_000;
  const connection = await reaching(() =>
    connect({
      ...parseUrl(settings.url),
      ...(settings.outsider ? { inboxPrefix: inboxOf(settings.outsider.name) } : {}),
      name: settings.name,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 250,
      reconnectJitter: 250,
      pingInterval: 20_000,
      maxPingOut: 2,
      timeout: settings.connectMs ?? 10_000,
    }),
  );
  let connected = true;
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect') {
        connected = false;
        log.warn({ store: 'nats' }, 'connection to NATS lost, reconnecting');
      } else if (status.type === 'reconnect') {
        connected = true;
        log.info({ store: 'nats' }, 'connection to NATS is back');
      } else if (status.type === 'error') {
        log.error({ store: 'nats', error: String(status.data) }, 'NATS reports an error');
      }
    }
  })();

  const jetstream = connection.jetstream({ timeout: deadlineMs });
  const manager = await reaching(() =>
    connection.jetstreamManager({ timeout: deadlineMs, checkAPI: false }),
  ).catch(async (error: unknown) => {
    await connection.close();
    throw error;
  });
  const stream = settings.prefix.toUpperCase();
  // Only fields that every server since 2.9 knows: servers from 2.12 on refuse unknown ones.
  const config = {
    name: stream,
    subjects: [`${settings.prefix}.>`],
    retention: 'limits',
    storage: 'file',
    discard: 'old',
    max_age: nanos(settings.maxAgeMs ?? 30 * 24 * 3_600_000),
    max_msg_size: maxEventBytes,
    duplicate_window: nanos(settings.duplicateWindowMs ?? 120_000),
    num_replicas: settings.replicas ?? 1,
  } as Parameters<JetStreamManager['streams']['add']>[0];

  const advisories = `${stream}_ADVISORIES`;
  /** The server says these once, to whoever listens; the dead letters have the events themselves. */
  async function sureAdvisories(): Promise<void> {
    try {
      await manager.streams.info(advisories);
      return;
    } catch (error) {
      if (apiCode(error) !== apiCodes.streamNotFound) throw error;
    }
    try {
      await manager.streams.add({
        name: advisories,
        subjects: ['MAX_DELIVERIES', 'MSG_TERMINATED'].map(
          (kind) => `$JS.EVENT.ADVISORY.CONSUMER.${kind}.${stream}.>`,
        ),
        retention: 'limits',
        storage: 'file',
        discard: 'old',
        max_msgs: 10_000,
        max_age: config.max_age,
        num_replicas: config.num_replicas,
      } as Parameters<JetStreamManager['streams']['add']>[0]);
    } catch (error) {
      if (apiCode(error) === undefined) throw error;
      if (apiCode(error) !== apiCodes.streamNameInUse)
        log.warn({ stream: advisories, error: reasonOf(error) }, 'advisories are not kept');
    }
  }

  async function infoOrMake(): Promise<StreamInfo> {
    try {
      return await manager.streams.info(stream);
    } catch (error) {
      if (apiCode(error) !== apiCodes.streamNotFound) throw error;
    }
    try {
      const made = await manager.streams.add(config);
      log.info({ stream }, 'stream made');
      return made;
    } catch (error) {
      // Somebody else made it in between.
      if (apiCode(error) !== apiCodes.streamNameInUse) throw error;
      return await manager.streams.info(stream);
    }
  }

  const wake = wakeSubject(settings.prefix);
  const isConnected = (): boolean => connected && !connection.isClosed();
  return {
    prefix: settings.prefix,
    stream,
    advisories,
    connection,
    jetstream,
    manager,
    deadlineMs,
    outsider: settings.outsider !== undefined,
    get connected() {
      return isConnected();
    },
    streamInfo: () => reaching(infoOrMake),
    async ensureStream() {
      if (settings.outsider) return;
      const patience = Date.now() + deadlineMs;
      for (let attempt = 1; ; attempt++) {
        try {
          const { config: there } = await infoOrMake();
          const wanted = config as unknown as Record<string, unknown>;
          const has = there as unknown as Record<string, unknown>;
          const adjustable = ['max_age', 'max_msg_size', 'duplicate_window', 'num_replicas'];
          if (adjustable.some((key) => has[key] !== wanted[key]))
            await manager.streams.update(stream, config);
          await sureAdvisories();
          return;
        } catch (error) {
          if (apiCode(error) === apiCodes.noJetStreamForAccount)
            throw new Error('The NATS server runs without JetStream: start it with -js');
          // JetStream answers a little later than the server itself does after a start.
          const early = (error as ApiFault).code === '503' && Date.now() < patience;
          if (!early) throw asUnavailable(error);
          await pause(growing(attempt, 50, 500), AbortSignal.timeout(deadlineMs));
        }
      }
    },
    async ping(signal) {
      if (signal.aborted || !isConnected()) throw new StoreUnavailableError('nats');
      const gaveUp = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(new StoreUnavailableError('nats')), { once: true });
      });
      await Promise.race([reaching(() => manager.streams.info(stream)), gaveUp]);
    },
    wakeOutbox() {
      try {
        if (connected) connection.publish(wake);
      } catch (error) {
        log.debug({ error: reasonOf(error) }, 'wake-up not sent');
      }
    },
    async close() {
      if (connection.isClosed()) return;
      // Draining waits for the server; without one it would wait for ever.
      const drained = connected
        ? await within(
            connection.drain().catch(() => undefined),
            2_000,
          )
        : false;
      if (!drained) await connection.close();
    },
  };
}
