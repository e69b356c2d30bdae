import type { WriteStream } from 'node:tty';

/** Shows how far a long job is: a bar on a terminal, otherwise a line for every tenth. */
export class Progress {
  readonly #out: WriteStream;
  readonly #label: string;
  readonly #total: number;
  readonly #started = performance.now();
  #done = 0;
  #begun = 0;
  #shownTenth = 0;

  /**
   * @param label what is counted, for example `workspaces`
   * @param total how many there will be
   * @param done how many an earlier run did; they do not count for the estimate
   */
  constructor(label: string, total: number, done = 0, out: WriteStream = process.stdout) {
    this.#label = label;
    this.#total = total;
    this.#done = done;
    this.#begun = done;
    this.#out = out;
  }

  add(count: number): void {
    this.#done += count;
    const share = this.#total === 0 ? 1 : this.#done / this.#total;
    const figures = `${this.#done.toLocaleString('en')} of ${this.#total.toLocaleString('en')} ${this.#label}`;
    if (this.#out.isTTY) {
      const full = Math.round(share * 30);
      const bar = '█'.repeat(full) + '░'.repeat(30 - full);
      this.#out.write(`\r${bar} ${figures}, ${this.#rest()}\u001b[K${share >= 1 ? '\n' : ''}`);
      return;
    }
    const tenth = Math.floor(share * 10);
    if (tenth === this.#shownTenth) return;
    this.#shownTenth = tenth;
    this.#out.write(`${String(Math.floor(share * 100)).padStart(3)} %  ${figures}, ${this.#rest()}\n`);
  }

  #rest(): string {
    const seconds = (performance.now() - this.#started) / 1000;
    if (this.#done >= this.#total) return `took ${duration(seconds)}`;
    const rate = (this.#done - this.#begun) / seconds;
    return rate > 0 ? `about ${duration((this.#total - this.#done) / rate)} left` : 'starting';
  }
}

/** `8 s`, `2 min 5 s`. */
export function duration(seconds: number): string {
  const whole = Math.max(1, Math.round(seconds));
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
