/** Place of a score on the common scale, in per cent from its left end: 1 is 0, 5 is 100; beyond is clipped. */
export function onScale(score: number): number {
  return Math.min(100, Math.max(0, ((score - 1) / 4) * 100));
}
