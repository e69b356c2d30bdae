import { type AnyDomainEvent, subjectToken } from '@sparkroom/contract';
import type { JsMsg } from 'nats';
import { apiCode, apiCodes, type Events } from './connection.ts';
import { type Log, reasonOf } from './log.ts';
import { follow, readRange } from './stream-reader.ts';
import { growing, pause } from './waiting.ts';
import { decodeEvent, header } from './wire.ts';

/** `seq` is the stream sequence as decimal text. */
export type FeedItem =
  | { kind: 'ready' | 'resync'; seq: string }
  | { kind: 'event'; seq: string; event: AnyDomainEvent };

export interface LiveFeedOptions {
  events: Events;
  log: Log;
  /** Events remembered for readers that come back. Default 1,000. */
  ring?: number;
  /** Events that may wait for one reader; more make it resync. Default 256. */
  queue?: number;
  /** Events read from the stream for one reader that was away longer; more make it resync. Default 2,000. */
  backlog?: number;
}

export interface Subscription {
  workspaceId: string;
  /** Sequence of the last item the reader has; null or absent begins now. */
  afterSeq?: string | null;
  /** Ends the iteration. */
  signal: AbortSignal;
}

export interface LiveFeed {
  /**
   * Events of one workspace in stream order, from any process, without gap or double.
   *
   * Without `afterSeq` it begins with `ready` and the present sequence. `resync` means: something was skipped, fetch
   * anew; it goes on after the sequence that comes with it. While NATS is away the iterator waits.
   */
  subscribe(subscription: Subscription): AsyncIterable<FeedItem>;
  /** Last sequence seen, and readers now. */
  figures(): { seq: number; readers: number; live: boolean };
  close(): Promise<void>;
}

interface Entry {
  seq: number;
  workspaceId: string;
  event: AnyDomainEvent;
}

/** One reader's bounded queue. */
class Reader {
  readonly #most: number;
  #items: FeedItem[] = [];
  #wake: (() => void) | undefined;

  constructor(most: number) {
    this.#most = most;
  }

  push(entry: Entry): void {
    const last = this.#items.at(-1);
    if (this.#items.length >= this.#most) this.resync(entry.seq);
    // Behind a resync that nobody took yet, events add nothing.
    else if (last?.kind === 'resync') last.seq = String(entry.seq);
    else this.#add({ kind: 'event', seq: String(entry.seq), event: entry.event });
  }

  /** Drops what waits in favour of one `resync`. */
  resync(seq: number): void {
    this.#items = [];
    this.#add({ kind: 'resync', seq: String(seq) });
  }

  #add(item: FeedItem): void {
    this.#items.push(item);
    this.#wake?.();
  }

  /** Takes all that waits; when nothing does, waits for something or for {@link wake}. */
  async take(): Promise<FeedItem[]> {
    if (this.#items.length === 0)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    this.#wake = undefined;
    return this.#items.splice(0);
  }

  /** Ends a wait. */
  wake(): void {
    this.#wake?.();
  }
}

/** Opens the one consumer that feeds all readers of this process. Returns at once; readers wait until it is live. */
export function openLiveFeed(options: LiveFeedOptions): LiveFeed {
  return new Feed(options);
}

class Feed implements LiveFeed {
  readonly #options: LiveFeedOptions;
  readonly #ringSize: number;
  readonly #readers = new Map<string, Set<Reader>>();
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  /** Latest events in order. Complete for every sequence above `#ringAfter`. */
  #ring: Entry[] = [];
  #ringAfter = 0;
  /** Last sequence seen, whatever it was. */
  #seq = 0;
  /** Message id of that. */
  #lastId: string | undefined;
  /** When the stream was made: another time is another stream. */
  #epoch: string | undefined;
  #live = false;
  readonly #onLive = new Set<() => void>();
  #readingBacklog = 0;

  constructor(options: LiveFeedOptions) {
    this.#options = options;
    this.#ringSize = options.ring ?? 1_000;
    this.#running = this.#keepFollowing();
  }

  figures(): { seq: number; readers: number; live: boolean } {
    let readers = 0;
    for (const set of this.#readers.values()) readers += set.size;
    return { seq: this.#seq, readers, live: this.#live };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    for (const go of this.#onLive) go();
    await this.#running;
  }

  async #keepFollowing(): Promise<void> {
    const { events, log } = this.#options;
    const signal = this.#closing.signal;
    for (let trouble = 0; !signal.aborted; ) {
      try {
        const { state, created } = await events.streamInfo();
        const epoch = String(created);
        const other = epoch !== this.#epoch || state.last_seq < this.#seq || !(await this.#isWhereItWas());
        if (other) this.#begin(epoch, state.first_seq, state.last_seq);
        else if (state.first_seq > this.#seq + 1) this.#begin(epoch, state.first_seq, state.last_seq);
        const goal = state.last_seq;
        if (this.#seq >= goal) this.#setLive();
        await follow(
          events,
          this.#seq + 1,
          (message) => {
            trouble = 0;
            this.#accept(message);
            // Deleted messages leave holes: nothing pending also means there.
            if (!this.#live && (message.seq >= goal || message.info.pending === 0)) this.#setLive();
          },
          signal,
        );
      } catch (error) {
        if (signal.aborted) break;
        log.debug({ error: reasonOf(error) }, 'live feed interrupted, following again');
      }
      this.#live = false;
      trouble++;
      await pause(growing(trouble, 100, 2_000), signal);
    }
  }

  /**
   * Whether the last message seen is still the one of its number: a stream that was rolled back gives its numbers out
   * again, and may have passed this one by the time it is looked at.
   */
  async #isWhereItWas(): Promise<boolean> {
    if (this.#lastId === undefined) return true;
    const { manager, stream } = this.#options.events;
    try {
      const message = await manager.streams.getMessage(stream, { seq: this.#seq });
      return message.header.get(header.id) === this.#lastId;
    } catch (error) {
      // Aged out: the first sequence tells what that means.
      if (apiCode(error) === apiCodes.messageNotFound) return true;
      throw error;
    }
  }

  /** Begins with a stream not seen before, a little before its end so that the ring is filled. */
  #begin(epoch: string, first: number, last: number): void {
    const known = this.#epoch !== undefined;
    this.#epoch = epoch;
    this.#ring = [];
    this.#seq = Math.max(first - 1, last - this.#ringSize, 0);
    this.#ringAfter = this.#seq;
    this.#lastId = undefined;
    if (known) for (const set of this.#readers.values()) for (const reader of set) reader.resync(last);
  }

  #setLive(): void {
    this.#live = true;
    for (const go of this.#onLive) go();
  }

  #accept(message: JsMsg): void {
    this.#seq = message.seq;
    this.#lastId = message.headers?.get(header.id);
    let event: AnyDomainEvent;
    try {
      event = decodeEvent(message, message.seq);
    } catch (error) {
      // Newer than this program: its readers could not understand it either.
      this.#options.log.debug(
        { seq: message.seq, error: reasonOf(error) },
        'event left out of the live feed',
      );
      return;
    }
    if (event.workspaceId === null) return;
    const entry: Entry = { seq: message.seq, workspaceId: event.workspaceId, event };
    this.#ring.push(entry);
    if (this.#ring.length > this.#ringSize) this.#ringAfter = this.#ring.shift()?.seq ?? this.#ringAfter;
    for (const reader of this.#readers.get(event.workspaceId) ?? []) reader.push(entry);
  }

  async *subscribe(subscription: Subscription): AsyncGenerator<FeedItem, void, undefined> {
    const { workspaceId, afterSeq } = subscription;
    const signal = AbortSignal.any([subscription.signal, this.#closing.signal]);
    while (!this.#live && !signal.aborted) await this.#waitLive(signal);
    if (signal.aborted) return;
    const reader = new Reader(this.#options.queue ?? 256);
    // From here on nothing of this workspace is missed: what comes lands in the reader's queue.
    const begin = this.#seq;
    const set = this.#readers.get(workspaceId) ?? new Set();
    const wake = (): void => reader.wake();
    signal.addEventListener('abort', wake);
    this.#readers.set(workspaceId, set.add(reader));
    try {
      /** Items up to here the reader has. */
      let has = begin;
      if (afterSeq === null || afterSeq === undefined) yield { kind: 'ready', seq: String(begin) };
      else {
        const after = Number(afterSeq);
        const missed = await this.#missed(workspaceId, after, begin, signal);
        if (signal.aborted) return;
        if (missed === 'resync') yield { kind: 'resync', seq: String(begin) };
        else {
          has = Math.max(after, begin);
          for (const item of missed) {
            yield item;
            if (signal.aborted) return;
          }
        }
      }
      while (!signal.aborted)
        for (const item of await reader.take()) {
          if (item.kind === 'event' && Number(item.seq) <= has) continue;
          // After a resync the numbering may have begun anew.
          has = Number(item.seq);
          yield item;
          if (signal.aborted) return;
        }
    } finally {
      signal.removeEventListener('abort', wake);
      set.delete(reader);
      if (set.size === 0 && this.#readers.get(workspaceId) === set) this.#readers.delete(workspaceId);
    }
  }

  async #waitLive(signal: AbortSignal): Promise<void> {
    let go: () => void = () => {};
    await new Promise<void>((resolve) => {
      go = resolve;
      this.#onLive.add(go);
      signal.addEventListener('abort', go);
    });
    this.#onLive.delete(go);
    signal.removeEventListener('abort', go);
  }

  /** Events of a workspace after `after` up to `begin`, or 'resync' when they cannot be told. */
  async #missed(
    workspaceId: string,
    after: number,
    begin: number,
    signal: AbortSignal,
  ): Promise<FeedItem[] | 'resync'> {
    const { events, log, backlog = 2_000 } = this.#options;
    const item = ({ seq, event }: Entry): FeedItem => ({ kind: 'event', seq: String(seq), event });
    if (!Number.isSafeInteger(after)) return 'resync';
    if (after === begin) return [];
    // Taken at once, before anything else can arrive.
    if (after < begin && after >= this.#ringAfter)
      return this.#ring
        .filter((entry) => entry.seq > after && entry.seq <= begin && entry.workspaceId === workspaceId)
        .map(item);
    for (let attempt = 1; !signal.aborted; attempt++) {
      // After a restart everybody comes back at once; a few reads at a time serve them sooner than all together.
      if (this.#readingBacklog >= 8) {
        await pause(growing(1, 50, 50), signal);
        continue;
      }
      this.#readingBacklog++;
      try {
        const { state } = await events.streamInfo();
        if (after > state.last_seq || after < state.first_seq - 1) return 'resync';
        // Ahead of this process: another one delivered it. It comes here in a moment and is then left out.
        if (after > begin) return [];
        const filter = `${events.prefix}.${subjectToken(workspaceId)}.>`;
        const messages = await readRange(events, filter, after + 1, begin, backlog);
        if (messages === null) return 'resync';
        return messages.flatMap((message): FeedItem[] => {
          try {
            return [{ kind: 'event', seq: String(message.seq), event: decodeEvent(message, message.seq) }];
          } catch {
            return [];
          }
        });
      } catch (error) {
        log.debug({ error: reasonOf(error) }, 'backlog not read, trying again');
        await pause(growing(attempt, 100, 2_000), signal);
      } finally {
        this.#readingBacklog--;
      }
    }
    return [];
  }
}
