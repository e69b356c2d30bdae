import { AsyncLocalStorage } from 'node:async_hooks';

/** What one request can spend its time on. `queue` is waiting at our own gate, `service` is the store's own time. */
export const timingNames = ['sql', 'cloudant;queue', 'cloudant;service', 'redis', 'cpu'] as const;
export type TimingName = (typeof timingNames)[number];

/**
 * The time one request has spent, summed by name in milliseconds. Calls that run in parallel add up, so a sum may be
 * greater than the request's own duration.
 */
export class Timings {
  readonly #sums = new Map<TimingName, { ms: number; count: number }>();

  /** Adds `ms` milliseconds to a name. */
  add(name: TimingName, ms: number): void {
    const sum = this.#sums.get(name);
    if (sum) {
      sum.ms += ms;
      sum.count += 1;
    } else {
      this.#sums.set(name, { ms, count: 1 });
    }
  }

  /** Milliseconds spent under a name, 0 when nothing was recorded. */
  ms(name: TimingName): number {
    return this.#sums.get(name)?.ms ?? 0;
  }

  /** How often something was recorded under a name. */
  count(name: TimingName): number {
    return this.#sums.get(name)?.count ?? 0;
  }

  /** The value of a `Server-Timing` header with every name in its fixed order, 0 where nothing was recorded. */
  toHeader(): string {
    return timingNames.map((name) => `${name};dur=${this.ms(name).toFixed(2)}`).join(', ');
  }
}

const current = new AsyncLocalStorage<Timings>();

/**
 * Runs `fn` so that everything it awaits records into one `Timings`, which `fn` gets too.
 * @param timings an own collector, when the caller wants to read it after `fn` has thrown.
 */
export function withTimings<T>(fn: (timings: Timings) => T, timings: Timings = new Timings()): T {
  return current.run(timings, fn, timings);
}

/** Records `ms` milliseconds for the request that is running now. Does nothing outside `withTimings`. */
export function recordTiming(name: TimingName, ms: number): void {
  current.getStore()?.add(name, ms);
}

/** The collector of the request that is running now, if there is one. */
export function currentTimings(): Timings | undefined {
  return current.getStore();
}
