import type { StoredMsg } from 'nats';
import { apiCode, apiCodes, type Events, reaching } from './connection.ts';
import { type Log, reasonOf } from './log.ts';
import type { AuditPort, Placed } from './outbox-port.ts';
import { readIds } from './stream-reader.ts';
import { Bell } from './waiting.ts';
import { decodeHeader, eventIdOf, header } from './wire.ts';

export interface AuditorOptions {
  outbox: AuditPort;
  events: Events;
  log: Log;
  /** Milliseconds between two looks. Default one minute. */
  everyMs?: number;
  /** Called after rows were set to pending, so that a relay begins at once. */
  afterRepublish?: () => void;
}

/** What one look found. */
export interface Finding {
  /** Events that the stream no longer has and that were set to pending. */
  lost: number;
  /** True when the newest event of the stream belongs to no row: the database has lost it (a failover, a restore). */
  ghost: boolean;
  /** True when every kept row was compared, false when the ends agreed. */
  whole: boolean;
}

export interface Auditor {
  /** Looks now. @throws StoreUnavailableError when a store is away */
  audit(): Promise<Finding>;
  /** Totals of this process, and when the last look was finished (milliseconds since 1970, 0: never). */
  figures(): { lost: number; ghosts: number; lastAt: number };
  stop(): Promise<void>;
}

/** Rows compared at a time. */
const chunk = 1_000;
/** Places looked at in one query for doubles. */
const doublesChunk = 50_000;
/** Rows younger than this are kept for certain: the outbox keeps them 24 hours. */
const keptMs = 23 * 3_600_000;

/**
 * Watches that the stream still has what the outbox has published, every minute and at each reconnect: JetStream
 * acknowledges before it syncs to disk, so an operating system that goes down takes acknowledged events with it, and a
 * stream can be purged, restored from an older copy, or made anew.
 *
 * Where both ends agree (highest and lowest place, holes, no place claimed twice since the last look) that costs a few
 * requests however long the stream is. Otherwise every kept row is compared with the stream, and what is missing is set to
 * pending; relays publish it under `<id>:r<n>`, which remembered ids do not swallow.
 */
export function startAuditor(options: AuditorOptions): Auditor {
  return new Watch(options);
}

class Watch implements Auditor {
  readonly #options: AuditorOptions;
  readonly #stopping = new AbortController();
  readonly #bell = new Bell();
  readonly #running: Promise<void>;
  readonly #figures = { lost: 0, ghosts: 0, lastAt: 0 };
  #auditing: Promise<Finding> | undefined;
  /** The newest event that both sides had. */
  #verified: { seq: number; eventId: string } | undefined;
  /** Holes that are accounted for. */
  #holes = 0;
  #epoch: string | undefined;
  #lastGhost: string | undefined;

  constructor(options: AuditorOptions) {
    this.#options = options;
    this.#running = this.#keepWatching();
  }

  figures(): { lost: number; ghosts: number; lastAt: number } {
    return { ...this.#figures };
  }

  audit(): Promise<Finding> {
    this.#auditing ??= this.#audit().finally(() => {
      this.#auditing = undefined;
    });
    return this.#auditing;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#bell.ring();
    await this.#running;
  }

  async #keepWatching(): Promise<void> {
    const { events, log, everyMs = 60_000 } = this.#options;
    const status = events.connection.status();
    const listening = (async () => {
      for await (const { type } of status) if (type === 'reconnect') this.#bell.ring();
    })();
    while (!this.#stopping.signal.aborted) {
      let waitMs = everyMs;
      try {
        await this.audit();
      } catch (error) {
        // Soon again: a store that was away may have come back with less.
        waitMs = Math.min(everyMs, 2_000);
        log.debug({ error: reasonOf(error) }, 'audit not possible');
      }
      if (!this.#stopping.signal.aborted) await this.#bell.wait(waitMs);
    }
    (status as AsyncIterable<unknown> & { stop?(): void }).stop?.();
    void listening;
  }

  async #audit(): Promise<Finding> {
    const { outbox, events, log } = this.#options;
    // Rows first: whatever they claim was in the stream before the stream is asked.
    const edges = await outbox.edges();
    const doubled = await this.#doubled();
    const { state, config, created } = await events.streamInfo();
    const holes = state.num_deleted ?? 0;
    const same = this.#epoch === undefined || this.#epoch === String(created);
    // A stream that lets events go by age before the outbox does loses nothing by that.
    const ages = config.max_age > 0 && config.max_age < 25 * 3_600_000 * 1_000_000;
    const agree =
      same &&
      !doubled &&
      holes <= this.#holes &&
      (!edges || ages || edges.first.streamSeq >= state.first_seq) &&
      (!this.#verified || (await this.#holds(this.#verified.seq, this.#verified.eventId))) &&
      (!edges || (edges.last.streamSeq <= state.last_seq && (await this.#holdsRow(edges.last))));
    const lost =
      agree || !edges
        ? 0
        : await this.#compareAll(
            ages ? state.first_seq : 0,
            edges.last.streamSeq,
            same ? state.last_seq : undefined,
          );
    if (lost > 0) {
      this.#figures.lost += lost;
      log.error({ lost }, 'the stream has lost events that were in it, publishing them again');
      this.#options.afterRepublish?.();
    }
    const ghost = await this.#ghost(state.last_seq);
    this.#epoch = String(created);
    this.#holes = holes;
    const last = lost > 0 ? (await outbox.edges())?.last : edges?.last;
    this.#verified = last && { seq: last.streamSeq, eventId: last.eventId };
    this.#figures.lastAt = Date.now();
    return { lost, ghost, whole: !agree && edges !== null };
  }

  /** Whether two rows claim one place: after a roll-back the stream gives its numbers out a second time. */
  async #doubled(): Promise<boolean> {
    for (let from = this.#verified?.seq ?? 0; !this.#stopping.signal.aborted; ) {
      const { upTo, found } = await this.#options.outbox.doubles(from, doublesChunk);
      if (found) return true;
      if (upTo === null || upTo <= from) return false;
      from = upTo;
    }
    return false;
  }

  #holdsRow(row: Placed): Promise<boolean> {
    return this.#holds(row.streamSeq, row.eventId);
  }

  async #holds(seq: number, eventId: string): Promise<boolean> {
    const message = await this.#get(seq);
    return message !== undefined && idOf(message) === eventId;
  }

  /**
   * Compares every row placed at `from` to `to` with the stream.
   * @param lastSeq last sequence of a stream that gave numbers out a second time; undefined for one that was made anew,
   * whose consumers were too
   * @returns how many were lost and are pending now
   */
  async #compareAll(from: number, to: number, lastSeq: number | undefined): Promise<number> {
    const { outbox, events } = this.#options;
    let lost = 0;
    let isSetBack = lastSeq === undefined;
    for (let next = from; next <= to && !this.#stopping.signal.aborted; ) {
      const rows = (await outbox.placed(next, chunk)).filter((row) => row.streamSeq <= to);
      const [first, last] = [rows[0], rows.at(-1)];
      if (!first || !last) break;
      const ids = await readIds(events, first.streamSeq, last.streamSeq);
      const gone = rows.filter((row) => ids.get(row.streamSeq) !== row.eventId);
      const reused = gone.find((row) => row.streamSeq > (lastSeq ?? 0) || ids.has(row.streamSeq));
      // Before the rows change: an audit that ends here finds the same again.
      if (reused && !isSetBack) {
        await this.#setBack(reused.streamSeq);
        isSetBack = true;
      }
      lost += await outbox.republish(gone);
      if (rows.length < chunk) break;
      // The last place again, unless that would be all: another row may claim it too.
      next = last.streamSeq === first.streamSeq ? last.streamSeq + 1 : last.streamSeq;
    }
    return lost;
  }

  /**
   * Makes durables anew that have been beyond a place from which the stream gives its numbers out a second time: the server
   * would pass over what is new there (seen with 2.9). What they had already is delivered again, which they recognise.
   */
  async #setBack(place: number): Promise<void> {
    const { events, log } = this.#options;
    const { manager, stream } = events;
    for await (const info of manager.consumers.list(stream)) {
      const { durable_name } = info.config;
      if (!durable_name || info.delivered.stream_seq < place) continue;
      const start = Math.max(1, Math.min(info.ack_floor.stream_seq + 1, place));
      try {
        await reaching(() => manager.consumers.delete(stream, durable_name));
      } catch (error) {
        // Another auditor is at it.
        if (apiCode(error) === apiCodes.consumerNotFound) continue;
        throw error;
      }
      const { opt_start_time: _, ...config } = info.config;
      await reaching(() =>
        manager.consumers.add(stream, {
          ...config,
          deliver_policy: 'by_start_sequence',
          opt_start_seq: start,
        } as Parameters<typeof manager.consumers.add>[1]),
      );
      log.warn({ consumer: durable_name, start }, 'consumer set back to where the stream lost events');
    }
  }

  /** Whether the newest event has no row although the outbox would still keep it. Reported once. */
  async #ghost(lastSeq: number): Promise<boolean> {
    const { outbox, log } = this.#options;
    const message = lastSeq > 0 ? await this.#get(lastSeq) : undefined;
    if (!message?.header.has(header.type)) return false;
    const age = Date.now() - message.time.getTime();
    const eventId = idOf(message);
    if (age > keptMs || (await outbox.has(eventId))) return false;
    if (this.#lastGhost !== eventId) {
      this.#lastGhost = eventId;
      this.#figures.ghosts++;
      log.error(
        { event: eventId, seq: lastSeq, type: decodeHeader(message.header.get(header.type)) },
        'the stream has an event that the database has lost',
      );
    }
    return true;
  }

  async #get(seq: number): Promise<StoredMsg | undefined> {
    const { manager, stream } = this.#options.events;
    try {
      return await reaching(() => manager.streams.getMessage(stream, { seq }));
    } catch (error) {
      if (apiCode(error) === apiCodes.messageNotFound) return undefined;
      throw error;
    }
  }
}

const idOf = (message: StoredMsg): string =>
  eventIdOf({ subject: message.subject, headers: message.header, data: message.data }, message.seq);
