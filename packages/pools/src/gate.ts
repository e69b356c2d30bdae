/** Why a gate let somebody go away empty-handed. */
export type GateRefusal = 'deadline' | 'full' | 'closed';

/** Thrown when no place became free in time, the queue is at its bound, or the gate is closed. */
export class GateRefusedError extends Error {
  override readonly name = 'GateRefusedError';
  readonly refusal: GateRefusal;

  constructor(gate: string, refusal: GateRefusal) {
    const why = {
      deadline: 'no place became free before the deadline',
      full: 'too many callers are waiting already',
      closed: 'it is closed',
    }[refusal];
    super(`Gate ${gate}: ${why}.`);
    this.refusal = refusal;
  }
}

export interface GateOptions {
  /** Named in errors and figures. */
  name: string;
  /** How many may be inside at once; a whole number of at least 1. */
  size: number;
  /** How many may wait; whoever comes after is refused at once. No bound when left out. */
  maxWaiting?: number;
}

export interface AcquireOptions {
  /** The moment by which a place is needed, on the clock of `performance.now()`; see `deadlineIn`. */
  deadline?: number;
  /** Leaves the queue when aborted, with the signal's reason. Does not interrupt work that has begun. */
  signal?: AbortSignal;
  /** What the place is for, such as a request class. Use few different ones: figures are kept for each. */
  tag?: string;
}

/** Sums since the gate was made; times in milliseconds. */
export interface GateFigures {
  /** Callers that got a place and gave it back. */
  done: number;
  /** Of those, how many reported failure. */
  errors: number;
  /** Time spent in the queue by those who got a place. */
  waitMs: number;
  /** Time places were held. */
  serviceMs: number;
  /** Callers that left without a place: deadline, abort, full, closed. */
  rejected: number;
}

export interface GateStats extends GateFigures {
  size: number;
  busy: number;
  waiting: number;
  byTag: Record<string, GateFigures>;
}

/** A place inside. Give it back exactly once; giving it back again does nothing. */
export interface Pass {
  /** How long its holder waited, in milliseconds. */
  readonly waitMs: number;
  /** @param failed whether the work failed; it is only counted. */
  release(failed?: boolean): void;
}

interface Waiter {
  admit(): void;
  refuse(refusal: GateRefusal): void;
}

/** The point in time `ms` milliseconds from now, on the monotonic clock that gates compare with. */
export function deadlineIn(ms: number): number {
  return performance.now() + ms;
}

// Longer delays make setTimeout fire at once.
const maxTimeout = 2 ** 31 - 1;

/**
 * Lets a limited number of callers in at once, the others in the order they came. It stands in front of a driver's
 * own pool, because drivers can neither be resized while they work nor tell how long callers wait.
 *
 * A place that is given back goes straight to the first waiter, so a newcomer can never overtake the queue.
 */
export class Gate {
  readonly name: string;
  #size: number;
  #busy = 0;
  #closed = false;
  readonly #maxWaiting: number;
  // A Set keeps insertion order and lets a waiter leave from the middle in constant time.
  readonly #queue = new Set<Waiter>();
  readonly #total = noFigures();
  readonly #byTag = new Map<string, GateFigures>();
  #whenIdle: (() => void)[] = [];

  constructor(options: GateOptions) {
    this.name = options.name;
    this.#size = checkSize(options.size);
    this.#maxWaiting = options.maxWaiting ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Runs `fn` with a place and gives the place back whatever happens.
   * @throws GateRefusedError without having called `fn`; the signal's reason when aborted in the queue; else what `fn` throws.
   */
  async run<T>(fn: (pass: Pass) => T | PromiseLike<T>, options: AcquireOptions = {}): Promise<T> {
    const pass = await this.acquire(options);
    let failed = true;
    try {
      const result = await fn(pass);
      failed = false;
      return result;
    } finally {
      pass.release(failed);
    }
  }

  /**
   * Takes a place, for work that does not fit into one function (a connection held through a transaction).
   * @throws GateRefusedError or the signal's reason.
   */
  acquire(options: AcquireOptions = {}): Promise<Pass> {
    const { deadline = Number.POSITIVE_INFINITY, signal, tag } = options;
    const came = performance.now();
    if (signal?.aborted) return this.#reject(tag, signal.reason);
    if (this.#closed) return this.#reject(tag, new GateRefusedError(this.name, 'closed'));
    if (deadline <= came) return this.#reject(tag, new GateRefusedError(this.name, 'deadline'));
    if (this.#busy < this.#size) return Promise.resolve(this.#admit(came, tag));
    if (this.#queue.size >= this.#maxWaiting) {
      return this.#reject(tag, new GateRefusedError(this.name, 'full'));
    }

    return new Promise<Pass>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const leave = () => {
        this.#queue.delete(waiter);
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const giveUp = (reason: unknown) => {
        leave();
        this.#count(tag, (figures) => {
          figures.rejected += 1;
        });
        reject(reason);
      };
      const onAbort = () => giveUp(signal?.reason);
      const waiter: Waiter = {
        admit: () => {
          leave();
          resolve(this.#admit(came, tag));
        },
        refuse: (refusal) => giveUp(new GateRefusedError(this.name, refusal)),
      };
      // Timers may fire a millisecond early and a busy loop late, so the deadline is looked at again.
      const watch = () => {
        const left = deadline - performance.now();
        if (left <= 0) waiter.refuse('deadline');
        else timer = setTimeout(watch, Math.min(Math.ceil(left), maxTimeout));
      };
      this.#queue.add(waiter);
      signal?.addEventListener('abort', onAbort, { once: true });
      if (deadline !== Number.POSITIVE_INFINITY) watch();
    });
  }

  /**
   * Changes how many may be inside. Raising it lets waiters in at once; lowering it interrupts nobody, the gate
   * shrinks as places are given back.
   * @throws RangeError when `size` is not a whole number of at least 1.
   */
  resize(size: number): void {
    this.#size = checkSize(size);
    this.#letIn();
  }

  /** Refuses everybody who waits or comes later; resolves when the last one inside has given the place back. */
  close(): Promise<void> {
    this.#closed = true;
    for (const waiter of [...this.#queue]) waiter.refuse('closed');
    if (this.#busy === 0) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /** A copy of the figures as they are now. */
  stats(): GateStats {
    return {
      size: this.#size,
      busy: this.#busy,
      waiting: this.#queue.size,
      ...this.#total,
      byTag: Object.fromEntries([...this.#byTag].map(([tag, figures]) => [tag, { ...figures }])),
    };
  }

  #admit(came: number, tag: string | undefined): Pass {
    this.#busy += 1;
    const began = performance.now();
    const waitMs = began - came;
    let held = true;
    return {
      waitMs,
      release: (failed = false) => {
        if (!held) return;
        held = false;
        this.#busy -= 1;
        const serviceMs = performance.now() - began;
        this.#count(tag, (figures) => {
          figures.done += 1;
          figures.waitMs += waitMs;
          figures.serviceMs += serviceMs;
          if (failed) figures.errors += 1;
        });
        this.#letIn();
      },
    };
  }

  #letIn(): void {
    for (const waiter of this.#queue) {
      if (this.#busy >= this.#size) return;
      waiter.admit();
    }
    if (this.#busy === 0) {
      for (const resolve of this.#whenIdle.splice(0)) resolve();
    }
  }

  #reject(tag: string | undefined, reason: unknown): Promise<never> {
    this.#count(tag, (figures) => {
      figures.rejected += 1;
    });
    return Promise.reject(reason);
  }

  #count(tag: string | undefined, add: (figures: GateFigures) => void): void {
    add(this.#total);
    if (tag === undefined) return;
    let figures = this.#byTag.get(tag);
    if (!figures) {
      figures = noFigures();
      this.#byTag.set(tag, figures);
    }
    add(figures);
  }
}

function noFigures(): GateFigures {
  return { done: 0, errors: 0, waitMs: 0, serviceMs: 0, rejected: 0 };
}

function checkSize(size: number): number {
  if (!Number.isInteger(size) || size < 1) {
    throw new RangeError(`A gate's size must be a whole number of at least 1, not ${size}.`);
  }
  return size;
}
