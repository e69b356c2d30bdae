/** An event that is committed but not yet known to be in the stream. */
export interface OutboxRow {
  /** BIGINT as decimal text. */
  id: string;
  /** ULID; idempotency key of every effect. */
  eventId: string;
  aggregateType: string;
  aggregateId: string;
  /** Rises by one with every event of the aggregate. */
  aggregateVersion: number;
  workspaceId: string | null;
  actorId: string | null;
  requestId: string | null;
  type: string;
  schemaVersion: number;
  /** Without the prefix and already tokenised: `<workspace or _>.<aggregate>.<id>`. */
  subject: string;
  payload: unknown;
  traceparent: string | null;
  /** Commit time on the database's clock, UTC. */
  createdAt: string;
  firstAttemptAt: string | null;
  attempts: number;
  /** How often the stream lost it; above 0 it goes out under an id of its own. */
  republished: number;
}

/** Work on one partition while its named lock is held, all on one connection. */
export interface OutboxSession {
  /** Unpublished rows of the partition in id order, at most `limit`. Never a cursor: a lower id may commit later. */
  pending(limit: number): Promise<OutboxRow[]>;
  /** These rows are in the stream at these sequences. */
  markPublished(rows: { id: string; streamSeq: number }[]): Promise<void>;
  /** Counts an attempt that did not succeed, with its error for the console. */
  markAttempt(ids: string[], error: string | null): Promise<void>;
  /**
   * The stream has lost an aggregate's events between two versions (both exclusive): sets those that are kept to
   * pending, each counted as republished once more.
   * @returns all kept rows between the two, in order of their versions
   */
  lost(aggregateType: string, aggregateId: string, after: number, before: number): Promise<OutboxRow[]>;
}

/** The outbox, as the relay needs it. Implemented by `@sparkroom/mysql`. */
export interface OutboxPort {
  /**
   * Runs `fn` holding the partition's named lock; the lock dies with its connection.
   * @returns null when another relay holds the partition
   * @throws StoreUnavailableError when the database cannot be reached
   */
  withPartition<T>(
    partition: number,
    fn: (session: OutboxSession) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T | null>;
  /** How much waits in all partitions, and for how many milliseconds the oldest has. */
  depth(): Promise<{ pending: number; oldestMs: number }>;
}

/** A published event and where the stream put it. */
export interface Placed {
  id: string;
  eventId: string;
  streamSeq: number;
}

/** The outbox, as the auditor needs it. Implemented by `@sparkroom/mysql`. All may throw StoreUnavailableError. */
export interface AuditPort {
  /** The kept rows with the lowest and the highest place; null when nothing is published. */
  edges(): Promise<{ first: Placed; last: Placed } | null>;
  /** Rows placed at `from` or above, in order of their places, at most `limit`. */
  placed(from: number, limit: number): Promise<Placed[]>;
  /** Looks at `limit` rows placed at `from` or above: the last place, and whether two rows claim the same. */
  doubles(from: number, limit: number): Promise<{ upTo: number | null; found: boolean }>;
  /** Sets lost rows to pending, each only if it is still placed where it was seen. @returns how many were */
  republish(rows: readonly Placed[]): Promise<number>;
  /** Whether there is a row of this event, published or not. */
  has(eventId: string): Promise<boolean>;
}

/** Where an event goes that its consumer cannot handle. */
export interface DeadLetter {
  consumer: string;
  eventId: string;
  subject: string;
  streamSeq: number;
  payload: unknown;
  headers: Record<string, string>;
  error: string;
  attempts: number;
}

/** What a consumer has handled already. Implemented by `@sparkroom/mysql`. */
export interface InboxPort<Trx = unknown> {
  /**
   * Runs `effect` in a transaction whose first statement inserts the inbox row; `done: false` when the row was there,
   * so that the effect happens once however often the event is delivered, also to two processes at once.
   */
  once<T>(
    consumer: string,
    eventId: string,
    effect: (trx: Trx) => Promise<T>,
  ): Promise<{ done: true; value: T } | { done: false }>;
  /** Keeps an event with its whole payload for people to look at. A second time for the same event is no error. */
  deadLetter(row: DeadLetter): Promise<void>;
  /** Writes down, before it begins, that a handler does; for events that seem to end processes. @returns how often it has */
  began(row: DeadLetter): Promise<number>;
  /** It ended, and its process lives. */
  ended(consumer: string, eventId: string): Promise<void>;
  /**
   * Takes dead letters that somebody wants tried again; nobody else gets them, and they are plain dead letters with
   * one more attempt until they are settled, also when this process dies.
   */
  claimRetries(consumer: string, limit: number): Promise<DeadLetter[]>;
  /** A claimed dead letter had its effect: it is one no longer. */
  settled(consumer: string, eventId: string): Promise<void>;
}
