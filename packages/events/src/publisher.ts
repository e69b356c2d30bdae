import type { StoredMsg } from 'nats';
import { apiCode, apiCodes, type Events, reaching } from './connection.ts';
import type { OutboxRow } from './outbox-port.ts';
import { encodeRow, eventIdOf, header } from './wire.ts';

export interface Stored {
  /** Sequence in the stream. */
  seq: number;
  /** True when it was there before: an earlier try had arrived, though its answer had not. */
  already: boolean;
}

/** The stream does not have the events before this one. Thrown before anything is published. */
export class MissingPredecessorError extends Error {
  override name = 'MissingPredecessorError';
  /** Highest version of the aggregate that the stream has; 0 for none. */
  readonly last: number;

  constructor(last: number) {
    super(`the stream has the aggregate's events up to version ${last} only`);
    this.last = last;
  }
}

/**
 * Milliseconds to wait for the answer to one publish. Short, since asking again is safe: when a server of a cluster dies,
 * what was sent to it is never answered, and the next one has been elected long before.
 */
const answerMs = 2_000;

/** Aggregates whose last sequence is remembered; a forgotten one costs one more request. */
const remembered = 10_000;

/**
 * Puts outbox rows into the stream, each once, whatever happened to earlier tries.
 *
 * Two fences: the message id, which the server remembers for the duplicate window only, and the expected last
 * sequence of the aggregate's subject, which holds for ever and also against a second relay (error 10071).
 */
export class Publisher {
  readonly #events: Events;
  /** Last known sequence by subject, oldest use first. */
  readonly #last = new Map<string, number>();

  constructor(events: Events) {
    this.#events = events;
  }

  /**
   * Publishes one row. Never call it twice at once for the same aggregate.
   * @param evenAfterGap publish although earlier events of the aggregate are not in the stream: it may have let them
   * go by age, and then the outbox has none of them either
   * @throws MissingPredecessorError when they are not, and that was not said
   * @throws StoreUnavailableError when the outcome is unknown or the server is away: try the same row again
   * @throws Error when the server refuses this event (for example too large)
   */
  async publish(row: OutboxRow, evenAfterGap = false): Promise<Stored> {
    const subject = `${this.#events.prefix}.${row.subject}`;
    // What the stream lost once is looked for first: it may have come back, or be there under its second id.
    let expected = row.republished > 0 ? undefined : this.#last.get(subject);
    const seek = async (): Promise<Stored | number> => {
      const found = await this.#lookUp(row, subject);
      if (found.stored) return found.stored;
      if (found.version < row.aggregateVersion - 1 && !evenAfterGap)
        throw new MissingPredecessorError(found.version);
      return found.last;
    };
    if (expected === undefined) {
      // The first event of an aggregate finds an empty subject, unless an earlier try of it arrived: 10071 tells.
      if (row.aggregateVersion <= 1 && row.republished === 0) expected = 0;
      else {
        const found = await seek();
        if (typeof found !== 'number') return found;
        expected = found;
      }
    }
    const { headers, data } = encodeRow(row);
    for (let again = false; ; again = true) {
      try {
        const ack = await this.#events.jetstream.publish(subject, data, {
          headers,
          // Under the first id the server may remember the message although it no longer has it.
          msgID: row.republished > 0 ? `${row.eventId}:r${row.republished}` : row.eventId,
          expect: { lastSubjectSequence: expected, streamName: this.#events.stream },
          timeout: Math.min(this.#events.deadlineMs, answerMs),
        });
        this.#remember(subject, ack.seq);
        return { seq: ack.seq, already: ack.duplicate };
      } catch (error) {
        this.#last.delete(subject);
        if (apiCode(error) !== apiCodes.wrongLastSequence || again) {
          // The driver refuses too large a message before it is sent; nothing is unknown about that.
          if ((error as { code?: string }).code === 'MAX_PAYLOAD_EXCEEDED')
            throw new Error(`the event has ${data.length} bytes, more than the server takes`);
          return await reaching(() => Promise.reject(error));
        }
        // Somebody stored something on this subject since: perhaps this very event.
        const found = await seek();
        if (typeof found !== 'number') return found;
        expected = found;
      }
    }
  }

  /** Forgets what it knows of the stream: after it was made anew, or when another relay may have been at work. */
  forget(): void {
    this.#last.clear();
  }

  /** Whether the row is in the stream already, and last sequence and version of its subject (0 when that is empty). */
  async #lookUp(
    row: OutboxRow,
    subject: string,
  ): Promise<{ stored?: Stored; last: number; version: number }> {
    const message = await this.#get({ last_by_subj: subject });
    if (message === undefined) return { last: 0, version: 0 };
    const last = message.seq;
    const lastId = eventIdOf({ subject, headers: message.header, data: message.data }, last);
    if (lastId === row.eventId) {
      this.#remember(subject, last);
      return { stored: { seq: last, already: true }, last, version: row.aggregateVersion };
    }
    // Versions rise along an aggregate's events, so behind a lower one ours cannot be.
    const version = Number(message.header.get(header.version) || 0);
    if (version < row.aggregateVersion) return { last, version };
    // Not remembered from here on: ours may lie before the last, and so may the aggregate's next rows, for which the
    // last sequence would be a fence that lets a second copy pass.
    // The id decides, not the version: what is not found goes out again, since a double is harmless and a loss is not.
    for (let seq = 1; seq <= last; seq++) {
      const stored = await this.#get({ seq, next_by_subj: subject });
      if (stored === undefined) break;
      const id = eventIdOf({ subject, headers: stored.header, data: stored.data }, stored.seq);
      if (id === row.eventId) return { stored: { seq: stored.seq, already: true }, last, version };
      seq = stored.seq;
    }
    return { last, version };
  }

  /** One stored message; `next_by_subj`: the first of that subject at or after `seq` (server 2.9 and later). */
  async #get(
    query: { last_by_subj: string } | { seq: number; next_by_subj: string },
  ): Promise<StoredMsg | undefined> {
    const { manager, stream } = this.#events;
    try {
      return await reaching(() => manager.streams.getMessage(stream, query as { seq: number }));
    } catch (error) {
      if (apiCode(error) === apiCodes.messageNotFound) return undefined;
      throw error;
    }
  }

  #remember(subject: string, seq: number): void {
    this.#last.delete(subject);
    this.#last.set(subject, seq);
    if (this.#last.size > remembered) {
      const oldest = this.#last.keys().next();
      if (!oldest.done) this.#last.delete(oldest.value);
    }
  }
}
