/** What the server sends; see `activity.live`. */
export type LiveItem =
  | { kind: 'ready' | 'resync'; seq: string }
  | {
      kind: 'event';
      seq: string;
      type: string;
      aggregate: { type: string; id: string };
      actorId: string | null;
      at: string;
    };
export type LiveEvent = Extract<LiveItem, { kind: 'event' }>;

interface Handlers {
  onData(item: LiveItem): void;
  /** The stream is up, or the browser is reconnecting by itself. */
  onConnected(connected: boolean): void;
  /** The stream is over and does not come back by itself. */
  onEnd(error: unknown): void;
}

export interface LiveFeedOptions {
  /** Opens the stream after `lastEventId`; the answer closes it. */
  open(lastEventId: string | null, handlers: Handlers): () => void;
  onEvent(event: LiveEvent): void;
  /** Something may have been missed: read again what is shown. */
  onResync(): void;
  /** True while updates do not arrive. */
  onInterrupted(interrupted: boolean): void;
  /** True when reopening is pointless: not a member any more, session over. */
  isFinal(error: unknown): boolean;
  now?(): number;
}

/** A page hidden for longer may have slept with its connection half open. */
const SLEPT_MS = 30_000;
const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
/** Events of which a second delivery is noticed. */
const REMEMBERED = 500;

/**
 * One live stream that survives sleep, lost networks and restarts of the server. It keeps the id of the last item
 * itself, so that every new stream goes on where the last one ended, whoever opened it.
 */
export class LiveFeed {
  readonly #options: LiveFeedOptions;
  readonly #seen = new Set<string>();
  #lastEventId: string | null = null;
  #close: (() => void) | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #retryMs = FIRST_RETRY_MS;
  #hiddenAt: number | null = null;
  #sleep: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;

  constructor(options: LiveFeedOptions) {
    this.#options = options;
  }

  start(): void {
    this.#open();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#sleep);
    this.#shut();
  }

  /**
   * The page was hidden. After a while its stream is closed: a browser has six connections to a server, and forgotten
   * windows would hold them all.
   */
  hidden(): void {
    this.#hiddenAt = this.#now();
    clearTimeout(this.#sleep);
    this.#sleep = setTimeout(() => this.#shut(), SLEPT_MS);
  }

  /** The page is seen again: after a long time open a new stream and read everything again. */
  visible(): void {
    const hiddenFor = this.#hiddenAt === null ? 0 : this.#now() - this.#hiddenAt;
    this.#hiddenAt = null;
    clearTimeout(this.#sleep);
    if (hiddenFor >= SLEPT_MS) {
      this.#options.onResync();
      this.reopen();
    }
  }

  /** The network is back, or the page woke up: do not wait for the next attempt. */
  reopen(): void {
    if (this.#stopped) return;
    this.#retryMs = FIRST_RETRY_MS;
    this.#open();
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }

  #shut(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#close?.();
    this.#close = null;
  }

  #open(): void {
    this.#shut();
    // Whatever a stream that was given up still says is not heard.
    let current = true;
    const close = this.#options.open(this.#lastEventId, {
      onData: (item) => {
        if (current) this.#take(item);
      },
      onConnected: (connected) => {
        if (current) this.#options.onInterrupted(!connected);
      },
      onEnd: (error) => {
        if (!current || this.#stopped) return;
        current = false;
        this.#shut();
        if (this.#options.isFinal(error)) return;
        this.#options.onInterrupted(true);
        this.#timer = setTimeout(() => this.#open(), this.#retryMs);
        this.#retryMs = Math.min(this.#retryMs * 2, LONGEST_RETRY_MS);
      },
    });
    this.#close = () => {
      current = false;
      close();
    };
  }

  #take(item: LiveItem): void {
    this.#lastEventId = item.seq;
    this.#retryMs = FIRST_RETRY_MS;
    this.#options.onInterrupted(false);
    if (item.kind === 'resync') this.#options.onResync();
    if (item.kind === 'event' && !this.#seen.has(item.seq)) {
      this.#seen.add(item.seq);
      if (this.#seen.size > REMEMBERED) this.#seen.delete(this.#seen.values().next().value ?? '');
      this.#options.onEvent(item);
    }
  }
}
