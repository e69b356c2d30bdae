import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  bandsOf,
  bayesianMean,
  compareRanked,
  posteriorVariance,
  priorOf,
  type Rankable,
  rankKey,
  type Sums,
  sampleVariance,
  scoreOf,
} from './scoring.ts';

const sumsOf = (...stars: number[]): Sums => ({
  count: stars.length,
  sum: stars.reduce((a, b) => a + b, 0),
  sumsq: stars.reduce((a, b) => a + b * b, 0),
});

describe('the Bayesian mean', () => {
  const prior = { mean: 3, weight: 3 };

  test.each([
    // (3 * 3 + sum) / (3 + n), by hand.
    [[], 3],
    [[5], 14 / 4],
    [[1], 10 / 4],
    [[5, 5], 19 / 5],
    [[5, 5, 5, 5, 5, 5, 5, 5, 5, 5], 59 / 13],
    [[4, 4, 5, 3, 4, 5], 34 / 9],
  ])('of %j is %d', (stars, mean) => {
    expect(bayesianMean(sumsOf(...stars), prior)).toBeCloseTo(mean, 12);
  });

  test('takes the workspace’s mean for its prior, the middle of the scale without any rating', () => {
    expect(priorOf({ count: 0, sum: 0 })).toEqual({ mean: 3, weight: 3 });
    expect(priorOf({ count: 4, sum: 18 })).toEqual({ mean: 4.5, weight: 3 });
    expect(bayesianMean(sumsOf(1), priorOf({ count: 4, sum: 18 }))).toBeCloseTo((3 * 4.5 + 1) / 4, 12);
  });

  test('lies between the prior and the plain mean, and is on the scale', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 200 }),
        fc.double({ min: 1, max: 5, noNaN: true }),
        (stars, mean) => {
          const sums = sumsOf(...stars);
          const plain = sums.sum / sums.count;
          const value = bayesianMean(sums, { mean, weight: 3 });
          expect(value).toBeGreaterThanOrEqual(Math.min(mean, plain) - 1e-9);
          expect(value).toBeLessThanOrEqual(Math.max(mean, plain) + 1e-9);
        },
      ),
    );
  });
});

describe('the spread', () => {
  test('of ratings is their sample variance', () => {
    expect(sampleVariance(sumsOf())).toBe(0);
    expect(sampleVariance(sumsOf(5))).toBe(0);
    expect(sampleVariance(sumsOf(4, 4, 4))).toBe(0);
    expect(sampleVariance(sumsOf(1, 5))).toBe(8);
    expect(sampleVariance(sumsOf(2, 4, 4, 4, 5, 5))).toBeCloseTo(1.2, 12);
  });

  test('of the mean pools prior and ratings', () => {
    const prior = { mean: 3, weight: 3 };
    // (3 * 1 + squares about the mean) / (3 + n)²
    expect(posteriorVariance(sumsOf(), prior)).toBeCloseTo(3 / 9, 12);
    expect(posteriorVariance(sumsOf(1, 5), prior)).toBeCloseTo((3 + 8) / 25, 12);
  });
});

describe('a score', () => {
  test('with its 80 % interval, by hand', () => {
    const score = scoreOf(sumsOf(4, 4, 5, 3, 4, 5), { mean: 3, weight: 3 }, 11);
    // Mean 34 / 9; squares about 25 / 6: 107 - 625 / 6 = 2.8333; variance 5.8333 / 81; half 1.28155 * 0.26836.
    expect(score).toEqual({ value: 3.778, low: 3.434, high: 4.122, mean: 4.167, raters: 6, eligible: 11 });
  });

  test('without a rating has no value', () => {
    expect(scoreOf(sumsOf(), { mean: 4, weight: 3 }, 5)).toEqual({
      value: null,
      low: null,
      high: null,
      mean: null,
      raters: 0,
      eligible: 5,
    });
  });

  test('holds its value, and both ends are on the scale', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 50 }), (stars) => {
        const { low, value, high } = scoreOf(sumsOf(...stars), priorOf(sumsOf(...stars)), 9);
        expect(low).toBeLessThanOrEqual(value ?? 0);
        expect(high).toBeGreaterThanOrEqual(value ?? 0);
        expect(low).toBeGreaterThanOrEqual(1);
        expect(high).toBeLessThanOrEqual(5);
      }),
    );
  });
});

describe('the order of a ranking', () => {
  const prior = { mean: 3, weight: 3 };
  const idea = (id: string, stars: number[], activeAt = '2026-01-01 00:00:00.000000'): Rankable => ({
    id,
    activeAt,
    ...sumsOf(...stars),
  });
  const order = (...ideas: Rankable[]) =>
    ideas
      .map((i) => rankKey(i, prior))
      .sort(compareRanked)
      .map((key) => key[4]);

  test('is by score, then raters, then spread, then activity, then id', () => {
    expect(order(idea('worse', [3]), idea('better', [4]))).toEqual(['better', 'worse']);
    // Both have score 3; more raters come first.
    expect(order(idea('few', [3]), idea('many', [3, 3]))).toEqual(['many', 'few']);
    expect(order(idea('none', []), idea('few', [3]))).toEqual(['few', 'none']);
    // As many raters: those who agree come first.
    expect(order(idea('split', [1, 5]), idea('agreed', [3, 3]))).toEqual(['agreed', 'split']);
    expect(
      order(idea('old', [3], '2026-01-01 00:00:00.000000'), idea('new', [3], '2026-01-01 00:00:00.000001')),
    ).toEqual(['new', 'old']);
    expect(order(idea('b', [3]), idea('a', [3]), idea('B', [3]))).toEqual(['B', 'a', 'b']);
  });

  const rankable = fc
    .tuple(
      fc.stringMatching(/^[A-Za-z0-9]{1,3}$/),
      fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 4 }),
      fc.constantFrom(
        '2026-01-01 00:00:00.000000',
        '2026-01-01 00:00:00.000001',
        '2026-02-01 00:00:00.000000',
      ),
    )
    .map(([id, stars, at]) => rankKey(idea(id, stars, at), prior));

  test('is strict and total: two ideas are never level, and one of them is first', () => {
    fc.assert(
      fc.property(rankable, rankable, (a, b) => {
        fc.pre(a[4] !== b[4]);
        const forth = compareRanked(a, b);
        expect(forth).not.toBe(0);
        expect(Math.sign(compareRanked(b, a))).toBe(-Math.sign(forth));
        expect(compareRanked(a, a)).toBe(0);
      }),
      { numRuns: 500 },
    );
  });

  test('is transitive', () => {
    fc.assert(
      fc.property(rankable, rankable, rankable, (a, b, c) => {
        const [x, y, z] = [a, b, c].sort(compareRanked) as [typeof a, typeof b, typeof c];
        expect(compareRanked(x, y)).toBeLessThanOrEqual(0);
        expect(compareRanked(y, z)).toBeLessThanOrEqual(0);
        expect(compareRanked(x, z)).toBeLessThanOrEqual(0);
      }),
      { numRuns: 500 },
    );
  });

  test('does not depend on the order the ideas come in', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(rankable, { selector: (key) => key[4], minLength: 2, maxLength: 12 }),
        fc.integer(),
        (keys, seed) => {
          const shuffled = [...keys].sort(
            (a, b) => ((a[4].charCodeAt(0) * seed) % 7) - ((b[4].charCodeAt(0) * seed) % 7),
          );
          expect(shuffled.sort(compareRanked)).toEqual([...keys].sort(compareRanked));
        },
      ),
    );
  });
});

describe('bands', () => {
  const prior = { mean: 3, weight: 3 };

  test('hold together what is too close to call', () => {
    expect(bandsOf([], prior)).toEqual([]);
    const clear = sumsOf(...Array(30).fill(5));
    const poor = sumsOf(...Array(30).fill(1));
    expect(bandsOf([clear, poor], prior)).toEqual([1, 2]);
    expect(bandsOf([clear, clear, poor, poor], prior)).toEqual([1, 1, 2, 2]);
    // One rating says little: 3.5 and 3 are the same band.
    expect(bandsOf([sumsOf(5), sumsOf()], prior)).toEqual([1, 1]);
  });

  test('begin at 1 and go up by one', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 30 }), {
          minLength: 1,
          maxLength: 20,
        }),
        (ideas) => {
          const sorted = ideas
            .map((stars) => sumsOf(...stars))
            .sort((a, b) => bayesianMean(b, prior) - bayesianMean(a, prior));
          const bands = bandsOf(sorted, prior);
          expect(bands[0]).toBe(1);
          for (let i = 1; i < bands.length; i++) {
            expect([0, 1]).toContain((bands[i] ?? 0) - (bands[i - 1] ?? 0));
          }
        },
      ),
    );
  });
});
