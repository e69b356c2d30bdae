import { type AnyDomainEvent, type EventName, UnknownEventError } from '@sparkroom/contract';
import { StoreUnavailableError } from '@sparkroom/pools';
import type { ConsumerInfo, ConsumerMessages, JsMsg } from 'nats';
import { apiCode, apiCodes, type Events, nanos, reaching } from './connection.ts';
import { Lanes } from './lanes.ts';
import { type Log, reasonOf } from './log.ts';
import type { DeadLetter, InboxPort } from './outbox-port.ts';
import { growing, pause, within } from './waiting.ts';
import { bodyOf, decodeEvent, eventIdOf, headersOf, rawOf, typeOf } from './wire.ts';

/** A handler throws it when the event's turn has not come (for example a gap in versions). Not counted as a failure. */
export class NotYetError extends Error {
  override name = 'NotYetError';
}

/** An event came before its predecessors. */
export class GapError extends NotYetError {
  override name = 'GapError';
}

/**
 * Version check of a handler that must see an aggregate's events one after the other.
 * @param version of the event
 * @param applied version that the handler's own state has; 0 for none, null when it begins with whatever comes first
 * @returns false when the event had its effect before
 * @throws GapError when events in between are missing: the event waits for them
 */
export function inTurn(version: number, applied: number | null): boolean {
  if (applied === null || version === applied + 1) return true;
  if (version <= applied) return false;
  throw new GapError(`version ${version} came, version ${applied + 1} is awaited`);
}

/** Where a new durable begins: everything in the stream, only what comes, or from a sequence or a time on. */
export type ConsumerStart = 'all' | 'new' | { seq: number } | { time: Date };

/** What a handler gets beside the event. */
export interface Delivery<Trx> {
  /** Sequence in the stream. */
  seq: number;
  /** 1 for the first delivery, as counted by the server. */
  deliveries: number;
  /** Aborts when the consumer stops and its patience is over. */
  signal: AbortSignal;
  /** Runs an effect once per event, in one transaction with its inbox row. @returns false when it was done before */
  once(effect: (trx: Trx) => Promise<void>): Promise<boolean>;
}

export interface ConsumerOptions<N extends EventName, Trx> {
  events: Events;
  /** Durable name, also the key in inbox and dead letters. A replay gets a new one: `cache-v2`. */
  name: string;
  /** Subjects after the prefix, `*.idea.*`. One filter only: several need server 2.10. */
  filter: string;
  /** Types that are handled; known others are acknowledged unseen. Default: all. */
  types?: readonly N[];
  handler: (event: Extract<AnyDomainEvent, { type: N }>, delivery: Delivery<Trx>) => Promise<void>;
  /** Where effects are recorded and poison is kept. Without it, poison is tried for ever. */
  inbox?: InboxPort<Trx>;
  /** Handlers running at once, each for another aggregate. Default 8. */
  concurrency?: number;
  /** Failures of the handler after which an event is a dead letter; outages of a store do not count. Default 6. */
  maxDeliver?: number;
  /** Milliseconds to wait after the 1st, 2nd ... failure; the last value repeats. */
  backoff?: readonly number[];
  /** Milliseconds after which the server gives an event to somebody else when nothing is heard. Default 30,000. */
  ackWaitMs?: number;
  /** Where a new durable begins. Default: everything that is in the stream. */
  start?: ConsumerStart;
  /** What becomes of types that are not in the catalogue: dead letters, or seen as none of `types`. Default 'park'. */
  unknown?: 'park' | 'skip';
  /** 'never': the effects leave the system (mail, calls to others), so what is past must not be handled again. */
  replay?: 'never';
  /** Milliseconds an event may wait by {@link NotYetError}; from then on that counts as a failure. Default ten minutes. */
  patienceMs?: number;
  /** Milliseconds between two looks for dead letters that somebody wants tried again. Default 5,000. */
  retryMs?: number;
  log: Log;
}

/** How a consumer stands. The gap shows what the usual lag hides: events given out and never acknowledged. */
export interface ConsumerFigures {
  /** Events in the stream not given out yet. */
  lag: number;
  /** Given out and awaited. */
  ackPending: number;
  /** Last sequence given out minus the highest below which everything is acknowledged. */
  ackFloorGap: number;
  /** Aggregates whose next event waits for another try. */
  waiting: number;
  handled: number;
  failed: number;
  deadLettered: number;
}

export interface Consumer {
  readonly name: string;
  /** @throws StoreUnavailableError when NATS cannot be reached */
  figures(): Promise<ConsumerFigures>;
  /** Takes no more events, finishes those in hand (at most `patienceMs`), gives the rest back. */
  stop(patienceMs?: number): Promise<void>;
}

/** Deliveries to other processes, none of which finished, after which starts of the handler are written down. */
const suspectAfter = 2;

const defaultBackoff = [250, 1_000, 5_000, 15_000, 60_000];

/**
 * Starts a durable pull consumer. Returns at once and keeps consuming through outages until stopped.
 *
 * Delivery is at least once: effects are guarded by {@link Delivery.once} or by versions. Events of one aggregate are
 * handled one after the other; while one waits for its next try, later ones of its aggregate wait too. Between several
 * processes of one name that order is not kept, so handlers compare versions.
 */
export function startConsumer<N extends EventName = EventName, Trx = unknown>(
  options: ConsumerOptions<N, Trx>,
): Consumer {
  if (options.replay === 'never' && typeof options.start === 'object') throw notReplayed(options.name);
  return new Runtime(options);
}

export const notReplayed = (name: string): Error =>
  new Error(`The effects of consumer ${name} leave the system: its events must not be handled a second time`);

/** What this process knows of an event's earlier deliveries. */
interface Tries {
  /** Deliveries to this process. */
  here: number;
  failures: number;
  /** Times it met a store that is away or had to wait; they set the delay only. */
  outages: number;
  /** When it first had to wait for others. */
  waitsSince: number | undefined;
}

class Runtime<N extends EventName, Trx> implements Consumer {
  readonly name: string;
  readonly #options: ConsumerOptions<N, Trx>;
  readonly #lanes: Lanes;
  readonly #types: ReadonlySet<string> | undefined;
  readonly #ackWaitMs: number;
  readonly #concurrency: number;
  readonly #stopping = new AbortController();
  readonly #hurry = new AbortController();
  /** Pulled and not answered, by sequence. */
  readonly #inHand = new Map<number, JsMsg>();
  /** By sequence: failures of the handler, and outages met on the way, which set the delay only. */
  readonly #tries = new Map<number, Tries>();
  /** By subject, that is by aggregate: the sequence that waits, when its next try is, and until when others wait for it. */
  readonly #blocked = new Map<string, { seq: number; next: number; until: number }>();
  readonly #done = { handled: 0, failed: 0, deadLettered: 0 };
  readonly #running: Promise<void>;
  readonly #tick: NodeJS.Timeout;
  readonly #retrying: Promise<void>;
  #messages: ConsumerMessages | undefined;

  constructor(options: ConsumerOptions<N, Trx>) {
    this.#options = options;
    this.name = options.name;
    this.#concurrency = options.concurrency ?? 8;
    this.#ackWaitMs = options.ackWaitMs ?? 30_000;
    this.#lanes = new Lanes(this.#concurrency);
    this.#types = options.types && new Set<string>(options.types);
    this.#tick = setInterval(() => {
      for (const message of this.#inHand.values()) answer(() => message.working());
    }, this.#ackWaitMs / 3);
    this.#running = this.#keepConsuming();
    this.#retrying = this.#keepRetrying();
  }

  async figures(): Promise<ConsumerFigures> {
    const { manager, stream } = this.#options.events;
    const info = await reaching(() => manager.consumers.info(stream, this.name)).catch((error: unknown) => {
      // Not made yet, or being made anew.
      const code = apiCode(error);
      if (code !== apiCodes.consumerNotFound && code !== apiCodes.streamNotFound) throw error;
    });
    const own = { waiting: this.#blocked.size, ...this.#done };
    if (!info) return { lag: 0, ackPending: 0, ackFloorGap: 0, ...own };
    return {
      lag: info.num_pending,
      ackPending: info.num_ack_pending,
      ackFloorGap: info.delivered.stream_seq - info.ack_floor.stream_seq,
      ...own,
    };
  }

  async stop(patienceMs = 8_000): Promise<void> {
    this.#stopping.abort();
    this.#messages?.close();
    await within(
      Promise.all([this.#running, this.#retrying]).then(() => this.#lanes.idle()),
      patienceMs,
    );
    this.#hurry.abort();
    // Not bare: a delay of nothing would be redelivered without end to a consumer that is stopping as well.
    for (const message of this.#inHand.values()) answer(() => message.nak(100));
    this.#inHand.clear();
    clearInterval(this.#tick);
  }

  async #keepConsuming(): Promise<void> {
    const { log } = this.#options;
    for (let trouble = 0; !this.#stopping.signal.aborted; ) {
      try {
        await this.#consume(() => {
          trouble = 0;
        });
      } catch (error) {
        if (this.#stopping.signal.aborted) break;
        log.warn({ consumer: this.name, error: reasonOf(error) }, 'consumer interrupted, starting again');
      }
      trouble++;
      await pause(growing(trouble, 100, 5_000), this.#stopping.signal);
    }
  }

  /** Consumes until the iterator ends, by our wish or by trouble. */
  async #consume(wellStarted: () => void): Promise<void> {
    const { events, log } = this.#options;
    await events.ensureStream();
    await this.#ensureConsumer();
    const consumer = await reaching(() => events.jetstream.consumers.get(events.stream, this.name));
    const messages = await consumer.consume({
      max_messages: this.#concurrency * 4,
      expires: 10_000,
      idle_heartbeat: 2_500,
      abort_on_missing_resource: true,
    });
    this.#messages = messages;
    if (this.#stopping.signal.aborted) messages.close();
    void (async () => {
      for await (const status of await messages.status()) {
        log.debug({ consumer: this.name, status: status.type, data: status.data }, 'consumer status');
        // The pull may be lost on either side; a new one costs nothing.
        if (status.type === 'heartbeats_missed' && Number(status.data) >= 2) messages.close();
      }
    })();
    wellStarted();
    for await (const message of messages) this.#accept(message);
  }

  async #ensureConsumer(): Promise<ConsumerInfo> {
    const { events, filter } = this.#options;
    if (events.outsider) return await reaching(() => events.manager.consumers.info(events.stream, this.name));
    const wanted = {
      filter_subject: `${events.prefix}.${filter}`,
      ack_wait: nanos(this.#ackWaitMs),
      // The runtime counts failures itself: the server's count knows no difference between poison and an outage,
      // and what reaches its limit vanishes from the usual figures.
      max_deliver: -1,
      max_ack_pending: Math.max(64, this.#concurrency * 16),
    };
    const { manager, stream } = events;
    let there: ConsumerInfo | undefined;
    try {
      there = await reaching(() => manager.consumers.info(stream, this.name));
    } catch (error) {
      if (apiCode(error) !== apiCodes.consumerNotFound) throw error;
    }
    if (!there)
      return await reaching(() =>
        manager.consumers.add(stream, {
          ...wanted,
          durable_name: this.name,
          ack_policy: 'explicit',
          ...this.#beginning(),
          replay_policy: 'instant',
        } as Parameters<typeof manager.consumers.add>[1]),
      );
    const has = there.config as unknown as Record<string, unknown>;
    if (Object.entries(wanted).some(([key, value]) => has[key] !== value))
      return await reaching(() => manager.consumers.update(stream, this.name, wanted));
    return there;
  }

  #beginning(): object {
    const { start = 'all' } = this.#options;
    if (typeof start === 'string') return { deliver_policy: start };
    return 'seq' in start
      ? { deliver_policy: 'by_start_sequence', opt_start_seq: Math.max(1, start.seq) }
      : { deliver_policy: 'by_start_time', opt_start_time: start.time.toISOString() };
  }

  #accept(message: JsMsg): void {
    const seq = message.seq;
    this.#triesOf(seq).here++;
    // Delivered again although it is still worked on here: the first copy will answer.
    if (this.#inHand.has(seq)) {
      answer(() => message.working());
      return;
    }
    this.#inHand.set(seq, message);
    this.#lanes.push(message.subject, () => this.#work(message));
  }

  async #work(message: JsMsg): Promise<void> {
    const seq = message.seq;
    // Handed back while it waited here.
    if (this.#inHand.get(seq) !== message) return;
    const blocked = this.#blocked.get(message.subject);
    if (blocked && blocked.seq < seq && Date.now() < blocked.until)
      return this.#giveBack(message, Math.max(0, blocked.next - Date.now()) + 50);
    const { unknown = 'park' } = this.#options;
    if (unknown === 'skip' && this.#types && !this.#types.has(typeOf(message) ?? ''))
      return this.#finish(message);
    let event: AnyDomainEvent;
    try {
      event = decodeEvent(message, seq);
    } catch (error) {
      // Neither gets better by another try.
      const why = error instanceof UnknownEventError ? 'unknown' : 'invalid';
      return await this.#bury(message, `${why}: ${reasonOf(error)}`);
    }
    if (this.#types && !this.#types.has(event.type)) return this.#finish(message);
    try {
      const suspect = message.info.deliveryCount - this.#triesOf(seq).here >= suspectAfter;
      if (suspect && !(await this.#mayBegin(message, event))) return;
      try {
        await this.#handle(event, { seq, deliveries: message.info.deliveryCount });
      } finally {
        // It ended, well or not, and so did not take the process with it.
        if (suspect) await this.#options.inbox?.ended(this.name, event.id).catch(() => undefined);
      }
    } catch (error) {
      return await this.#failed(message, event, error);
    }
    this.#done.handled++;
    this.#finish(message);
  }

  /**
   * Writes down that the handler begins with an event which others got and never finished: perhaps it ends the process
   * each time, and then nobody would ever count that.
   * @returns false when it has done so too often and is a dead letter now
   */
  async #mayBegin(message: JsMsg, event: AnyDomainEvent): Promise<boolean> {
    const { inbox, maxDeliver = 6 } = this.#options;
    if (!inbox) return true;
    const begun = await inbox.began({
      ...this.#letter(message, event.id),
      error: 'its handler began and did not end',
      attempts: 1,
    });
    const times = begun + suspectAfter;
    if (times <= maxDeliver) return true;
    this.#triesOf(message.seq).failures = times - 1;
    await this.#bury(message, `${times - 1} processes ended while they handled it`);
    return false;
  }

  #handle(event: AnyDomainEvent, place: { seq: number; deliveries: number }): Promise<void> {
    return this.#options.handler(event as Extract<AnyDomainEvent, { type: N }>, this.#delivery(event, place));
  }

  /** Tries dead letters again that somebody has marked for it, each in the lane of its aggregate. */
  async #keepRetrying(): Promise<void> {
    const { inbox, log, retryMs = 5_000 } = this.#options;
    while (inbox && (await pause(growing(1, retryMs, retryMs), this.#stopping.signal))) {
      try {
        for (const letter of await inbox.claimRetries(this.name, this.#concurrency))
          this.#lanes.push(letter.subject, () => this.#retry(inbox, letter));
      } catch (error) {
        log.debug({ consumer: this.name, error: reasonOf(error) }, 'dead letters not looked for');
      }
    }
  }

  async #retry(inbox: InboxPort<Trx>, letter: DeadLetter): Promise<void> {
    const { log } = this.#options;
    const fields = { consumer: this.name, event: letter.eventId, seq: letter.streamSeq };
    try {
      const event = decodeEvent(rawOf(letter), letter.streamSeq);
      await this.#handle(event, { seq: letter.streamSeq, deliveries: letter.attempts });
      await inbox.settled(this.name, letter.eventId);
      this.#done.handled++;
      log.info(fields, 'dead letter handled');
    } catch (error) {
      this.#done.failed++;
      log.warn({ ...fields, error: reasonOf(error) }, 'dead letter failed again');
      // Claimed, it is dead again already; only its error is older.
      await inbox.deadLetter({ ...letter, error: reasonOf(error) }).catch(() => undefined);
    }
  }

  #delivery(event: AnyDomainEvent, place: { seq: number; deliveries: number }): Delivery<Trx> {
    const { inbox } = this.#options;
    return {
      ...place,
      signal: this.#hurry.signal,
      once: async (effect) => {
        if (!inbox) throw new Error(`consumer ${this.name} has no inbox`);
        return (await inbox.once(this.name, event.id, effect)).done;
      },
    };
  }

  async #failed(message: JsMsg, event: AnyDomainEvent, error: unknown): Promise<void> {
    const { log, maxDeliver = 6, inbox } = this.#options;
    const seq = message.seq;
    const fields = { consumer: this.name, event: event.id, type: event.type, seq, error: reasonOf(error) };
    if (error instanceof StoreUnavailableError || (error instanceof NotYetError && this.#mayWait(seq))) {
      const times = ++this.#triesOf(seq).outages;
      log.debug(fields, 'event waits');
      return this.#again(message, this.#delayOfOutage(times));
    }
    const times = ++this.#triesOf(seq).failures;
    this.#done.failed++;
    if (times >= maxDeliver && inbox) return await this.#bury(message, reasonOf(error));
    log.warn({ ...fields, times }, 'handler failed, trying again');
    this.#again(message, this.#delayAfter(times));
  }

  /** Whether an event may go on waiting for others. */
  #mayWait(seq: number): boolean {
    const tries = this.#triesOf(seq);
    tries.waitsSince ??= Date.now();
    return Date.now() - tries.waitsSince < (this.#options.patienceMs ?? 600_000);
  }

  /** Plans the next try of a message; later ones of its aggregate wait for it. */
  #again(message: JsMsg, delay: number): void {
    const next = Date.now() + delay;
    // Not for ever: another process of the same name may get it next.
    this.#blocked.set(message.subject, { seq: message.seq, next, until: next + this.#ackWaitMs });
    this.#giveBack(message, delay);
  }

  /** Never without a delay: the server would send the message again at once, and again. */
  #giveBack(message: JsMsg, delay: number): void {
    this.#inHand.delete(message.seq);
    answer(() => message.nak(Math.max(1, delay)));
  }

  /** Delay after so many failures of the handler. */
  #delayAfter(failures: number): number {
    const steps = this.#options.backoff ?? defaultBackoff;
    const step = steps[Math.min(failures, steps.length) - 1] ?? 1_000;
    return growing(1, step, step);
  }

  /** Delay after so many meetings with a store that is away: it comes back for all at once, so soon again. */
  #delayOfOutage(times: number): number {
    const first = this.#options.backoff?.[0] ?? 250;
    return growing(times, first, Math.max(first, 10_000));
  }

  #triesOf(seq: number): Tries {
    let tries = this.#tries.get(seq);
    if (!tries) {
      tries = { here: 0, failures: 0, outages: 0, waitsSince: undefined };
      this.#tries.set(seq, tries);
      // Those that another process finished are never asked for again.
      const oldest = this.#tries.keys().next();
      if (this.#tries.size > 10_000 && !oldest.done) this.#tries.delete(oldest.value);
    }
    return tries;
  }

  /** Keeps the event with its whole payload, then ends its delivery; without an inbox it is tried again. */
  async #bury(message: JsMsg, error: string): Promise<void> {
    const { log, inbox } = this.#options;
    const seq = message.seq;
    const eventId = eventIdOf(message, seq);
    const attempts = Math.max(1, this.#triesOf(seq).failures);
    try {
      if (!inbox) throw new Error(`${error} (and there is nowhere to keep it)`);
      await inbox.deadLetter({ ...this.#letter(message, eventId), error, attempts });
    } catch (trouble) {
      const times = ++this.#triesOf(seq).outages;
      log.error(
        { consumer: this.name, event: eventId, seq, error: reasonOf(trouble) },
        'dead letter not kept',
      );
      return this.#again(message, this.#delayOfOutage(times));
    }
    this.#done.deadLettered++;
    log.error({ consumer: this.name, event: eventId, seq, attempts, error }, 'event is now a dead letter');
    // Without a reason: that form needs server 2.10.
    answer(() => message.term());
    this.#forget(message);
  }

  #letter(message: JsMsg, eventId: string): Omit<DeadLetter, 'error' | 'attempts'> {
    return {
      consumer: this.name,
      eventId,
      subject: message.subject,
      streamSeq: message.seq,
      payload: bodyOf(message),
      headers: headersOf(message),
    };
  }

  #finish(message: JsMsg): void {
    answer(() => message.ack());
    this.#forget(message);
  }

  #forget(message: JsMsg): void {
    const seq = message.seq;
    this.#inHand.delete(seq);
    this.#tries.delete(seq);
    if (this.#blocked.get(message.subject)?.seq === seq) this.#blocked.delete(message.subject);
  }
}

/** An answer that cannot be sent, because the connection is closed, means a redelivery and nothing worse. */
function answer(send: () => void): void {
  try {
    send();
  } catch {
    // See above.
  }
}
