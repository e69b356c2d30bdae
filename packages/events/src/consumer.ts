import { type AnyDomainEvent, type EventName, UnknownEventError } from '@sparkroom/contract';
import { StoreUnavailableError } from '@sparkroom/pools';
import type { ConsumerInfo, ConsumerMessages, JsMsg } from 'nats';
import { apiCode, apiCodes, type Events, nanos, reaching } from './connection.ts';
import { Lanes } from './lanes.ts';
import { type Log, reasonOf } from './log.ts';
import type { InboxPort } from './outbox-port.ts';
import { growing, pause, within } from './waiting.ts';
import { bodyOf, decodeEvent, eventIdOf, headersOf } from './wire.ts';

/** A handler throws it when the event's turn has not come (for example a gap in versions). Not counted as a failure. */
export class NotYetError extends Error {
  override name = 'NotYetError';
}

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
  start?: 'all' | 'new';
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
  return new Runtime(options);
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
  readonly #tries = new Map<number, { failures: number; outages: number }>();
  /** By subject, that is by aggregate: the sequence that waits, when its next try is, and until when others wait for it. */
  readonly #blocked = new Map<string, { seq: number; next: number; until: number }>();
  readonly #done = { handled: 0, failed: 0, deadLettered: 0 };
  readonly #running: Promise<void>;
  readonly #tick: NodeJS.Timeout;
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
  }

  async figures(): Promise<ConsumerFigures> {
    const { manager, stream } = this.#options.events;
    const info = await reaching(() => manager.consumers.info(stream, this.name)).catch((error: unknown) => {
      // Not made yet, or being made anew.
      const code = apiCode(error);
      if (code !== apiCodes.consumerNotFound && code !== apiCodes.streamNotFound) throw error;
    });
    if (!info) return { lag: 0, ackPending: 0, ackFloorGap: 0, ...this.#done };
    return {
      lag: info.num_pending,
      ackPending: info.num_ack_pending,
      ackFloorGap: info.delivered.stream_seq - info.ack_floor.stream_seq,
      ...this.#done,
    };
  }

  async stop(patienceMs = 8_000): Promise<void> {
    this.#stopping.abort();
    this.#messages?.close();
    await within(
      this.#running.then(() => this.#lanes.idle()),
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
    const { events, filter, start } = this.#options;
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
          deliver_policy: start === 'new' ? 'new' : 'all',
          replay_policy: 'instant',
        } as Parameters<typeof manager.consumers.add>[1]),
      );
    const has = there.config as unknown as Record<string, unknown>;
    if (Object.entries(wanted).some(([key, value]) => has[key] !== value))
      return await reaching(() => manager.consumers.update(stream, this.name, wanted));
    return there;
  }

  #accept(message: JsMsg): void {
    const seq = message.seq;
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
      await this.#options.handler(
        event as Extract<AnyDomainEvent, { type: N }>,
        this.#delivery(message, event),
      );
    } catch (error) {
      return await this.#failed(message, event, error);
    }
    this.#done.handled++;
    this.#finish(message);
  }

  #delivery(message: JsMsg, event: AnyDomainEvent): Delivery<Trx> {
    const { inbox } = this.#options;
    return {
      seq: message.seq,
      deliveries: message.info.deliveryCount,
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
    if (error instanceof StoreUnavailableError || error instanceof NotYetError) {
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

  #triesOf(seq: number): { failures: number; outages: number } {
    let tries = this.#tries.get(seq);
    if (!tries) {
      tries = { failures: 0, outages: 0 };
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
      await inbox.deadLetter({
        consumer: this.name,
        eventId,
        subject: message.subject,
        streamSeq: seq,
        payload: bodyOf(message),
        headers: headersOf(message),
        error,
        attempts,
      });
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
