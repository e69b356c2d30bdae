import { StoreUnavailableError } from '@sparkroom/pools';
import { type Events, wakeSubject } from './connection.ts';
import { type Log, reasonOf } from './log.ts';
import type { OutboxPort, OutboxRow, OutboxSession } from './outbox-port.ts';
import { MissingPredecessorError, Publisher, type Stored } from './publisher.ts';
import { Bell, growing, pause } from './waiting.ts';

/** What the relay reports, one call per row. */
export interface RelayMetrics {
  published(row: OutboxRow, stored: Stored): void;
  failed(row: OutboxRow, error: unknown): void;
  /** Events that were published once, and that the stream did not have when a later one of theirs came up. */
  lost?(rows: readonly OutboxRow[]): void;
}

export interface RelayOptions {
  outbox: OutboxPort;
  events: Events;
  log: Log;
  /** How many partitions the outbox has. Default 4. */
  partitions?: number;
  /** Publishes in flight at once per partition, each of another aggregate. Default 32. */
  window?: number;
  /** Milliseconds between looks at an empty outbox when no wake-up comes. Default 1,000. */
  idleMs?: number;
  metrics?: RelayMetrics;
}

export interface Relay {
  /** Partitions whose lock this relay holds now. */
  held(): number[];
  /** Takes no more rows, waits for those in flight and marks them. */
  stop(): Promise<void>;
}

/** Rows read at a time, beyond those already in hand. */
const batch = 256;
/** Rows in hand at most: reached only when so many wait behind aggregates whose publishing fails. */
const handful = 8_192;
/** Milliseconds until the next look while there is work. */
const busyMs = 50;
/**
 * Milliseconds between two looks at least: at hundreds of commits a second, each with its wake-up, one look serves several of
 * them, and so does one marking. Otherwise the relay's own queries are what the database is busy with.
 */
const gatherMs = 4;

/**
 * Carries committed events from the outbox into the stream: in order per aggregate, each once, none lost.
 * Several relays may run: each partition is worked by the one that holds its named lock.
 * Returns at once and keeps running through outages of either side until stopped.
 */
export function startRelay(options: RelayOptions): Relay {
  const { outbox, events, log } = options;
  const partitions = options.partitions ?? 4;
  const idleMs = options.idleMs ?? 1_000;
  const stopping = new AbortController();
  const bells = Array.from({ length: partitions }, () => new Bell());
  const ringAll = (): void => {
    for (const bell of bells) bell.ring();
  };
  const holding = new Set<number>();
  const wakeUps = events.connection.subscribe(wakeSubject(events.prefix), { callback: ringAll });

  async function keepPartition(partition: number): Promise<void> {
    const bell = bells[partition] as Bell;
    for (let trouble = 0; !stopping.signal.aborted; ) {
      try {
        const worked = await outbox.withPartition(
          partition,
          async (session) => {
            holding.add(partition);
            trouble = 0;
            await new PartitionRun(options, session, bell, idleMs, stopping.signal).work();
            return true;
          },
          stopping.signal,
        );
        // Another relay holds it. Ask again soon: when that one dies the lock is free.
        if (worked === null) await pause(growing(1, idleMs, idleMs), stopping.signal);
      } catch (error) {
        if (stopping.signal.aborted) break;
        trouble++;
        log.warn({ partition, error: reasonOf(error) }, 'relay lost its partition, trying again');
        await pause(growing(trouble, 100, 5_000), stopping.signal);
      } finally {
        holding.delete(partition);
      }
    }
  }

  const running = Promise.all(bells.map((_, partition) => keepPartition(partition)));
  return {
    held: () => [...holding].sort((a, b) => a - b),
    async stop() {
      stopping.abort();
      ringAll();
      await running;
      if (!wakeUps.isClosed()) wakeUps.unsubscribe();
    },
  };
}

/** Rows of one aggregate, oldest first. */
interface Lane {
  rows: OutboxRow[];
  failures: number;
}

/** Adds rows to a lane, or puts newer readings in place of those it has, in order of the aggregate's versions. */
function addInOrder(lane: Lane, rows: readonly OutboxRow[]): void {
  const ids = new Set(rows.map((row) => row.id));
  lane.rows = [...lane.rows.filter((row) => !ids.has(row.id)), ...rows].sort(
    (a, b) => a.aggregateVersion - b.aggregateVersion,
  );
}

/** One holding of a partition's lock. Nothing survives it: the next holder reads the table again. */
class PartitionRun {
  readonly #options: RelayOptions;
  readonly #session: OutboxSession;
  readonly #bell: Bell;
  readonly #idleMs: number;
  readonly #stop: AbortSignal;
  /** Aborts waits of lanes when the run ends, for whatever reason. */
  readonly #ended = new AbortController();
  readonly #publisher: Publisher;
  readonly #window: number;
  readonly #lanes = new Map<string, Lane>();
  readonly #failing = new Set<Lane>();
  /** Ids of rows read and not yet marked. */
  readonly #inHand = new Set<string>();
  readonly #stored: { id: string; streamSeq: number }[] = [];
  readonly #failed: { id: string; error: string }[] = [];
  readonly #tasks = new Set<Promise<void>>();
  #inFlight = 0;
  #waiting: (() => void)[] = [];

  constructor(options: RelayOptions, session: OutboxSession, bell: Bell, idleMs: number, stop: AbortSignal) {
    this.#options = options;
    this.#session = session;
    this.#bell = bell;
    this.#idleMs = idleMs;
    this.#stop = stop;
    // A fresh one: while the lock was away another relay may have published.
    this.#publisher = new Publisher(options.events);
    this.#window = options.window ?? 32;
  }

  async work(): Promise<void> {
    try {
      for (let last = 0; !this.#stop.aborted; ) {
        const early = last + gatherMs - performance.now();
        if (early > 0) await pause(early, this.#stop);
        last = performance.now();
        await this.#mark();
        const fresh = await this.#take();
        if (this.#stored.length > 0) continue;
        await this.#bell.wait(fresh > 0 || this.#runnable() > 0 ? busyMs : this.#idleMs);
      }
    } finally {
      this.#ended.abort();
      for (const next of this.#waiting.splice(0)) next();
      // What is in flight ends by itself, at the latest at its deadline.
      await Promise.allSettled(this.#tasks);
    }
    await this.#mark();
  }

  /** Tells the table what became of rows since the last time. */
  async #mark(): Promise<void> {
    const stored = this.#stored.splice(0);
    if (stored.length > 0) {
      await this.#session.markPublished(stored);
      for (const row of stored) this.#inHand.delete(row.id);
    }
    const byError = Map.groupBy(this.#failed.splice(0), (row) => row.error);
    for (const [error, rows] of byError)
      await this.#session.markAttempt([...new Set(rows.map((row) => row.id))], error);
  }

  /** Reads rows and hands the new ones to the lanes of their aggregates. @returns how many were new */
  async #take(): Promise<number> {
    // Enough to do, or nobody to publish to: then reading more would only fill memory.
    if (this.#runnable() >= batch / 2 || this.#inHand.size >= handful) return 0;
    if (this.#inHand.size > 0 && !this.#options.events.connected) return 0;
    // Rows of aggregates that fail come back, since they are not marked: they must not crowd out the others.
    const rows = await this.#session.pending(Math.min(this.#inHand.size + batch, handful));
    let fresh = 0;
    for (const row of rows) {
      if (this.#inHand.has(row.id)) continue;
      this.#inHand.add(row.id);
      fresh++;
      const lane = this.#lanes.get(row.subject);
      if (lane) addInOrder(lane, [row]);
      else {
        const made: Lane = { rows: [row], failures: 0 };
        this.#lanes.set(row.subject, made);
        const task = this.#run(row.subject, made);
        this.#tasks.add(task);
        void task.finally(() => this.#tasks.delete(task));
      }
    }
    return fresh;
  }

  /** Rows in hand that do not wait behind a failure of their aggregate. */
  #runnable(): number {
    let stuck = 0;
    for (const lane of this.#failing) stuck += lane.rows.length;
    return this.#inHand.size - stuck;
  }

  /** Publishes an aggregate's rows one after the other until none is left. */
  async #run(subject: string, lane: Lane): Promise<void> {
    for (let row = lane.rows[0]; row && !this.#ended.signal.aborted; row = lane.rows[0]) {
      while (!this.#options.events.connected && (await pause(100, this.#ended.signal)));
      await this.#enter();
      let error: unknown;
      try {
        if (this.#ended.signal.aborted || this.#stop.aborted) return;
        const stored = await this.#publish(row, lane);
        if (!stored) continue;
        lane.rows.splice(lane.rows.indexOf(row), 1);
        lane.failures = 0;
        this.#failing.delete(lane);
        this.#stored.push({ id: row.id, streamSeq: stored.seq });
        this.#options.metrics?.published(row, stored);
        // Marking can wait a little for company; the timer of the loop sees to the rest.
        if (this.#stored.length >= batch / 4 || this.#inFlight === 1) this.#bell.ring();
        continue;
      } catch (caught) {
        error = caught;
      } finally {
        this.#leave();
      }
      lane.failures++;
      this.#failing.add(lane);
      this.#options.metrics?.failed(row, error);
      this.#failed.push({ id: row.id, error: reasonOf(error) });
      const fields = { event: row.eventId, type: row.type, subject, failures: lane.failures };
      const away = error instanceof StoreUnavailableError;
      const cause = error instanceof StoreUnavailableError ? (error.cause ?? error) : error;
      this.#options.log[away ? 'debug' : 'error'](
        { ...fields, error: reasonOf(cause) },
        'event not published, trying again',
      );
      await pause(growing(lane.failures, 100, away ? 1_000 : 10_000), this.#ended.signal);
    }
    if (lane.rows.length === 0) this.#lanes.delete(subject);
  }

  /** @returns undefined when earlier events of the aggregate must go first; they are in the lane then */
  async #publish(row: OutboxRow, lane: Lane): Promise<Stored | undefined> {
    try {
      return await this.#publisher.publish(row);
    } catch (error) {
      if (!(error instanceof MissingPredecessorError)) throw error;
      const { aggregateType, aggregateId, aggregateVersion } = row;
      const lost = await this.#session.lost(aggregateType, aggregateId, error.last, aggregateVersion);
      // Nothing kept: the stream has let them go by age, long after they were handled.
      if (lost.length === 0) return await this.#publisher.publish(row, true);
      const { log, metrics } = this.#options;
      log.error(
        { subject: row.subject, lost: lost.length },
        'the stream has lost events, publishing them again',
      );
      metrics?.lost?.(lost);
      for (const one of lost) this.#inHand.add(one.id);
      addInOrder(lane, lost);
      return undefined;
    }
  }

  async #enter(): Promise<void> {
    if (this.#inFlight >= this.#window && !this.#ended.signal.aborted)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#inFlight++;
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#inFlight--;
  }
}
