import { subjectOf } from '@sparkroom/contract';
import type {
  AuditPort,
  DeadLetter,
  InboxPort,
  OutboxPort,
  OutboxRow,
  OutboxSession,
  Placed,
} from '../src/index.ts';

/** An outbox table in memory, with the named locks of its database. */
export class MemoryOutbox {
  readonly rows: (OutboxRow & { partition: number; streamSeq: number | null; lastError: string | null })[] =
    [];
  readonly #versions = new Map<string, number>();
  readonly #locks = new Set<number>();
  /** Called before rows are marked; throwing is what a crash or a lost connection between PubAck and mark looks like. */
  beforeMark: () => void | Promise<void> = () => {};
  #next = 1;

  /** Commits one event. */
  add(aggregateId: string, over: Partial<OutboxRow> = {}): OutboxRow {
    const aggregateVersion = (this.#versions.get(aggregateId) ?? 0) + 1;
    this.#versions.set(aggregateId, aggregateVersion);
    const id = String(this.#next++);
    const row = {
      id,
      eventId: `E${id.padStart(25, '0')}`,
      aggregateType: 'idea',
      aggregateId,
      aggregateVersion,
      workspaceId: 'w1',
      actorId: 'u1',
      requestId: null,
      type: 'idea.bodyStored',
      schemaVersion: 1,
      subject: subjectOf('', 'w1', 'idea', aggregateId).slice(1),
      payload: { bodyVersion: aggregateVersion } as unknown,
      traceparent: null,
      createdAt: '2026-11-30T09:12:05.123456Z',
      firstAttemptAt: null,
      attempts: 0,
      republished: 0,
      ...over,
      partition: 0,
      streamSeq: null,
      lastError: null,
    };
    this.rows.push(row);
    return row;
  }

  pendingCount(): number {
    return this.rows.filter((row) => row.streamSeq === null).length;
  }

  /** One relay's view of it. Ports share rows and locks. */
  port(): OutboxPort {
    const session = (partition: number): OutboxSession => ({
      pending: async (limit) =>
        this.rows
          .filter((row) => row.partition === partition && row.streamSeq === null)
          .slice(0, limit)
          .map((row) => ({ ...row })),
      markPublished: async (marks) => {
        await this.beforeMark();
        for (const { id, streamSeq } of marks) {
          const row = this.rows.find((one) => one.id === id);
          if (row) row.streamSeq = streamSeq;
        }
      },
      markAttempt: async (ids, error) => {
        for (const row of this.rows)
          if (ids.includes(row.id)) {
            row.attempts++;
            row.lastError = error;
          }
      },
      lost: async (aggregateType, aggregateId, after, before) => {
        const between = this.rows.filter(
          (row) =>
            row.aggregateType === aggregateType &&
            row.aggregateId === aggregateId &&
            row.aggregateVersion > after &&
            row.aggregateVersion < before,
        );
        for (const row of between)
          if (row.streamSeq !== null) {
            row.streamSeq = null;
            row.republished++;
          }
        return between.map((row) => ({ ...row }));
      },
    });
    return {
      withPartition: async (partition, fn) => {
        if (this.#locks.has(partition)) return null;
        this.#locks.add(partition);
        try {
          return await fn(session(partition));
        } finally {
          this.#locks.delete(partition);
        }
      },
      depth: async () => ({ pending: this.pendingCount(), oldestMs: 0 }),
    };
  }

  /** The auditor's view of it. */
  auditPort(): AuditPort {
    const placed = (): Placed[] =>
      this.rows
        .flatMap(({ id, eventId, streamSeq }) => (streamSeq === null ? [] : [{ id, eventId, streamSeq }]))
        .sort((a, b) => a.streamSeq - b.streamSeq);
    return {
      edges: async () => {
        const [first, last] = [placed()[0], placed().at(-1)];
        return first && last ? { first, last } : null;
      },
      placed: async (from, limit) =>
        placed()
          .filter((row) => row.streamSeq >= from)
          .slice(0, limit),
      doubles: async (from, limit) => {
        const seqs = placed()
          .map((row) => row.streamSeq)
          .filter((seq) => seq >= from)
          .slice(0, limit);
        return { upTo: seqs.at(-1) ?? null, found: new Set(seqs).size < seqs.length };
      },
      republish: async (rows) => {
        let changed = 0;
        for (const { id, streamSeq } of rows) {
          const row = this.rows.find((one) => one.id === id && one.streamSeq === streamSeq);
          if (!row) continue;
          row.streamSeq = null;
          row.republished++;
          changed++;
        }
        return changed;
      },
      has: async (eventId) => this.rows.some((row) => row.eventId === eventId),
    };
  }

  /** The database ends the holder's session: its lock is free although it does not know yet. */
  breakLock(partition: number): void {
    this.#locks.delete(partition);
  }
}

/** Inbox and dead letters in memory. */
export class MemoryInbox implements InboxPort<string[]> {
  readonly done = new Set<string>();
  readonly effects: string[] = [];
  readonly dead: DeadLetter[] = [];

  async once<T>(consumer: string, eventId: string, effect: (trx: string[]) => Promise<T>) {
    const key = `${consumer} ${eventId}`;
    if (this.done.has(key)) return { done: false } as const;
    this.done.add(key);
    const trx: string[] = [];
    try {
      const value = await effect(trx);
      this.effects.push(...trx);
      return { done: true, value } as const;
    } catch (error) {
      this.done.delete(key);
      throw error;
    }
  }

  readonly trying = new Map<string, number>();
  /** Dead letters that somebody wants tried again. */
  readonly wanted: DeadLetter[] = [];

  async deadLetter(row: DeadLetter): Promise<void> {
    this.trying.delete(row.eventId);
    this.dead.push(row);
  }

  async began({ eventId }: DeadLetter): Promise<number> {
    const times = (this.trying.get(eventId) ?? 0) + 1;
    this.trying.set(eventId, times);
    return times;
  }

  async ended(_consumer: string, eventId: string): Promise<void> {
    this.trying.delete(eventId);
  }

  async claimRetries(): Promise<DeadLetter[]> {
    return this.wanted.splice(0).map((row) => ({ ...row, attempts: row.attempts + 1 }));
  }

  async settled(_consumer: string, eventId: string): Promise<void> {
    this.dead.splice(0, this.dead.length, ...this.dead.filter((row) => row.eventId !== eventId));
  }
}
