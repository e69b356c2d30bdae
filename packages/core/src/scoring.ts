import type { Score } from '@sparkroom/contract';

/** Ratings that the prior weighs as much as (notes on the choice: docs/decisions/0003-ranking.md). */
export const PRIOR_WEIGHT = 3;
/** Mean of the prior while nothing in the workspace is rated: the middle of the scale. */
export const PRIOR_MEAN = 3;
/** Variance of one rating that the prior assumes, in stars². */
const PRIOR_VARIANCE = 1;
/** Half of the 80 % interval of a normal distribution, in standard deviations. */
const Z80 = 1.2815515655446004;
/** One-sided 80 %: how sure we want to be that one idea is better before we say so. */
const Z_BETTER = 0.8416212335729143;

export interface Sums {
  /** Counted ratings of an idea: how many, their sum, the sum of their squares. */
  count: number;
  sum: number;
  sumsq: number;
}

export interface Prior {
  mean: number;
  weight: number;
}

/** Prior of a workspace: the mean of all its counted ratings, or the middle of the scale without any. */
export const priorOf = (totals: { count: number; sum: number }): Prior => ({
  mean: totals.count > 0 ? totals.sum / totals.count : PRIOR_MEAN,
  weight: PRIOR_WEIGHT,
});

/**
 * Bayesian mean `(m * C + sum) / (m + n)`, the posterior mean under a conjugate prior of weight m and mean C
 * (the formula of IMDb's Top 250), in stars.
 */
export const bayesianMean = (sums: Sums, prior: Prior): number =>
  (prior.weight * prior.mean + sums.sum) / (prior.weight + sums.count);

/** Spread of an idea's own ratings, in stars²; 0 below two ratings. */
export function sampleVariance({ count, sum, sumsq }: Sums): number {
  if (count < 2) return 0;
  return Math.max(0, (sumsq - (sum * sum) / count) / (count - 1));
}

/** Variance of the Bayesian mean: pooled variance of prior and sample over `m + n` ratings, in stars². */
export function posteriorVariance(sums: Sums, prior: Prior): number {
  const n = sums.count + prior.weight;
  const squares = sums.count > 0 ? Math.max(0, sums.sumsq - (sums.sum * sums.sum) / sums.count) : 0;
  return (prior.weight * PRIOR_VARIANCE + squares) / n / n;
}

const clamp = (value: number): number => Math.min(5, Math.max(1, value));
const round = (value: number): number => Math.round(value * 1000) / 1000;

/**
 * What a screen shows of an idea's ratings.
 * @param eligible members who may rate it: all but viewers and its author
 */
export function scoreOf(sums: Sums, prior: Prior, eligible: number): Score {
  if (sums.count === 0) return { value: null, low: null, high: null, mean: null, raters: 0, eligible };
  const value = bayesianMean(sums, prior);
  const half = Z80 * Math.sqrt(posteriorVariance(sums, prior));
  return {
    value: round(value),
    low: round(clamp(value - half)),
    high: round(clamp(value + half)),
    mean: round(sums.sum / sums.count),
    raters: sums.count,
    eligible,
  };
}

export interface Rankable extends Sums {
  id: string;
  /** Sortable text of the last activity; greater is newer. */
  activeAt: string;
}

/** Sort key of a ranking, compared by {@link compareRanked}: score, raters, spread, activity, id. */
export type RankKey = [score: number, raters: number, variance: number, activeAt: string, id: string];

export const rankKey = (idea: Rankable, prior: Prior): RankKey => [
  bayesianMean(idea, prior),
  idea.count,
  sampleVariance(idea),
  idea.activeAt,
  idea.id,
];

/** Strict total order: higher score, more raters, less spread, newer activity, smaller id come first. */
export function compareRanked(a: RankKey, b: RankKey): number {
  return b[0] - a[0] || b[1] - a[1] || a[2] - b[2] || compareText(b[3], a[3]) || compareText(a[4], b[4]);
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Bands of a sorted ranking that are too close to call: an idea stays in the band while we are less than 80 % sure
 * that the first of the band is better (normal difference of two independent means). Numbered from 1.
 */
export function bandsOf(sorted: readonly Sums[], prior: Prior): number[] {
  const bands: number[] = [];
  let leader: Sums | undefined;
  let band = 0;
  for (const idea of sorted) {
    if (leader) {
      const gap = bayesianMean(leader, prior) - bayesianMean(idea, prior);
      const spread = Math.sqrt(posteriorVariance(leader, prior) + posteriorVariance(idea, prior));
      if (gap <= Z_BETTER * spread) {
        bands.push(band);
        continue;
      }
    }
    leader = idea;
    bands.push(++band);
  }
  return bands;
}
