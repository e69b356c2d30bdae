/**
 * Runs tasks one after the other within a key, and at most `width` at once over all keys.
 * Keys that share nothing never wait for each other beyond that.
 */
export class Lanes {
  readonly #width: number;
  readonly #tails = new Map<string, Promise<void>>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #pending = 0;
  #onEmpty: (() => void)[] = [];

  constructor(width: number) {
    this.#width = width;
  }

  /** Tasks queued or running. */
  get pending(): number {
    return this.#pending;
  }

  /** Queues a task behind the others of its key. The task must not throw; what it throws is dropped. */
  push(key: string, task: () => Promise<void>): void {
    this.#pending++;
    const before = this.#tails.get(key) ?? Promise.resolve();
    const tail = before
      .then(() => this.#slot())
      .then(async () => {
        try {
          await task();
        } catch {
          // By contract the task has dealt with it.
        } finally {
          this.#free();
        }
      })
      .then(() => {
        if (this.#tails.get(key) === tail) this.#tails.delete(key);
        if (--this.#pending === 0) for (const done of this.#onEmpty.splice(0)) done();
      });
    this.#tails.set(key, tail);
  }

  /** Resolves when nothing is queued or running. */
  async idle(): Promise<void> {
    if (this.#pending > 0) await new Promise<void>((resolve) => this.#onEmpty.push(resolve));
  }

  async #slot(): Promise<void> {
    if (this.#running < this.#width) this.#running++;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  #free(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running--;
  }
}
