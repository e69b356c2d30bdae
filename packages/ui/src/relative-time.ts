const STEPS: ReadonlyArray<readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number]> = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];

/**
 * "3 hours ago", "in 2 weeks", "now", in whole units rounded towards zero.
 * @param at instant in milliseconds since 1970
 * @param now present in the same unit
 * @param locale `Intl` locale
 */
export function relativeTime(at: number, now: number, locale: string): string {
  const seconds = (at - now) / 1000;
  const format = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
  for (const [unit, size] of STEPS) {
    if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit);
  }
  return format.format(0, 'second');
}

/**
 * Date and time of day, in the reader's time zone.
 * @param at instant in milliseconds since 1970
 * @param locale `Intl` locale
 */
export function exactTime(at: number, locale: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'full', timeStyle: 'short' }).format(at);
}
