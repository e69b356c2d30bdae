/** Repeatable random numbers: the same key always gives the same ones. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  /** @param key what the numbers belong to, for example `1/workspace/42` */
  constructor(key: string) {
    // FNV-1a spreads the key over three words; sfc32 then needs a few rounds to forget their likeness.
    let hash = 0x811c9dc5;
    for (const byte of new TextEncoder().encode(key)) hash = Math.imul(hash ^ byte, 0x01000193);
    this.#a = hash;
    this.#b = Math.imul(hash, 0x9e3779b1);
    this.#c = hash ^ 0xdeadbeef;
    for (let i = 0; i < 12; i++) this.next();
  }

  /** From 0 to below 1. Chris Doty-Humphrey's sfc32 (PractRand). */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  }

  /** Whole number from `min` to `max`, both possible. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  /** True in `share` of all cases. */
  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new Error('Nothing to pick from');
    return items[Math.floor(this.next() * items.length)] as T;
  }

  /** `count` different items in random order; all of them when there are fewer. */
  sample<T>(items: readonly T[], count: number): T[] {
    const rest = [...items];
    const end = Math.min(count, rest.length);
    for (let i = 0; i < end; i++) {
      const j = this.int(i, rest.length - 1);
      [rest[i], rest[j]] = [rest[j] as T, rest[i] as T];
    }
    return rest.slice(0, end);
  }

  /** Key of `weights`, as often as its weight says. */
  weighted<K extends string>(weights: Record<K, number>): K {
    const entries = Object.entries(weights) as Array<[K, number]>;
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key;
    }
    return (entries.at(-1) as [K, number])[0];
  }

  /** Normally distributed (Box and Muller 1958). */
  normal(mean: number, deviation: number): number {
    const u = 1 - this.next();
    return mean + deviation * Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * this.next());
  }

  /** ULID of a time in milliseconds since 1970 (https://github.com/ulid/spec). */
  ulid(time: number): string {
    const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
    let head = '';
    for (let i = 0, rest = Math.floor(time); i < 10; i++, rest = Math.floor(rest / 32))
      head = alphabet[rest % 32] + head;
    let tail = '';
    for (let i = 0; i < 16; i++) tail += alphabet[Math.floor(this.next() * 32)];
    return head + tail;
  }
}

/** Stars that somebody gives: worth, shifted by their temper, with the day's mood on top. */
export function starsFor(random: Random, worth: number, temper: number): number {
  return Math.max(1, Math.min(5, Math.round(random.normal(worth + temper, 0.6))));
}

/**
 * Shares `total` out by `weights`: whole numbers with exactly that sum, none above its entry of `caps`.
 * @throws Error when `caps` have no room for `total`
 */
export function apportion(
  total: number,
  weights: readonly number[],
  caps: readonly number[] = weights.map(() => total),
): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  const shares = weights.map((weight, i) => Math.min(caps[i] ?? 0, Math.floor((total * weight) / sum)));
  let missing = total - shares.reduce((a, b) => a + b, 0);
  for (let given = 1; missing > 0; ) {
    if (given === 0) throw new Error(`There is no room for ${missing} of ${total}`);
    given = 0;
    for (let i = 0; i < shares.length && missing > 0; i++) {
      if ((shares[i] as number) >= (caps[i] ?? 0)) continue;
      shares[i] = (shares[i] as number) + 1;
      missing--;
      given++;
    }
  }
  return shares;
}
