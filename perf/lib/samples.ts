/** Figures over measured times, in milliseconds, rounded to a hundredth. */
export interface TimeFigures {
  count: number;
  avg: number;
  min: number;
  p50: number;
  p95: number;
  p99: number;
  max: number;
}

/** Every single time is kept (8 bytes each), so percentiles are exact and not a bucket's edge. */
export class Samples {
  #values = new Float64Array(4096);
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** @param ms one measured time in milliseconds */
  add(ms: number): void {
    if (this.#count === this.#values.length) {
      const larger = new Float64Array(this.#values.length * 2);
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[this.#count++] = ms;
  }

  /** All figures; zeros when nothing was measured. Percentiles by nearest rank: a time that did occur. */
  figures(): TimeFigures {
    const sorted = this.#values.slice(0, this.#count).sort();
    const rank = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
    const sum = sorted.reduce((total, value) => total + value, 0);
    return {
      count: this.#count,
      avg: round(this.#count === 0 ? 0 : sum / this.#count),
      min: round(rank(0)),
      p50: round(rank(0.5)),
      p95: round(rank(0.95)),
      p99: round(rank(0.99)),
      max: round(rank(1)),
    };
  }
}

export const round = (value: number, digits = 2): number => Math.round(value * 10 ** digits) / 10 ** digits;
