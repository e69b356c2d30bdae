import { GateRefusedError } from '@sparkroom/pools';

interface Waiter {
  start(): void;
}

/**
 * Lets `size` pieces of work run at once and takes the waiting ones from each key in turn, so that whoever sends three
 * hundred waits for themselves and not everybody else for them. For work that is dear and open to anybody: hashing
 * passwords takes the better part of a processor's tenth of a second.
 */
export class FairQueue {
  readonly #size: number;
  readonly #perKey: number;
  readonly #deadlineMs: number;
  #running = 0;
  /** Keys in the order of their turn; each has at least one waiter. */
  readonly #waiting = new Map<string, Set<Waiter>>();

  /**
   * @param options.size how many run at once
   * @param options.perKey how many of one key may wait
   * @param options.deadlineMs how long one may wait, in milliseconds
   */
  constructor(options: { size: number; perKey: number; deadlineMs: number }) {
    this.#size = options.size;
    this.#perKey = options.perKey;
    this.#deadlineMs = options.deadlineMs;
  }

  /** @throws GateRefusedError `full` at once, or `deadline`, without having called `work` */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#size) await this.#turn(key);
    else this.#running++;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #turn(key: string): Promise<void> {
    const queue = this.#waiting.get(key) ?? new Set<Waiter>();
    if (queue.size >= this.#perKey) return Promise.reject(new GateRefusedError('passwords', 'full'));
    return new Promise((resolve, reject) => {
      const leave = () => {
        queue.delete(waiter);
        if (queue.size === 0 && this.#waiting.get(key) === queue) this.#waiting.delete(key);
      };
      const timer = setTimeout(() => {
        leave();
        reject(new GateRefusedError('passwords', 'deadline'));
      }, this.#deadlineMs);
      const waiter = {
        start: () => {
          clearTimeout(timer);
          leave();
          resolve();
        },
      };
      queue.add(waiter);
      this.#waiting.set(key, queue);
    });
  }

  /** Gives the place to the first waiter of the key whose turn it is, and sends that key to the back. */
  #next(): void {
    const first = this.#waiting.entries().next().value;
    if (!first) {
      this.#running--;
      return;
    }
    const [key, queue] = first;
    this.#waiting.delete(key);
    const waiter = queue.values().next().value as Waiter;
    // Leaving puts nothing back: the key goes to the end only while it has waiters.
    waiter.start();
    if (queue.size > 0) this.#waiting.set(key, queue);
  }
}
