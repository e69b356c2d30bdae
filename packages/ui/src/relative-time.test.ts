import { describe, expect, it } from 'vitest';
import { relativeTime } from './relative-time.ts';

const now = Date.parse('2026-11-30T12:00:00Z');
const ago = (seconds: number) => now - seconds * 1000;

describe('relativeTime', () => {
  it.each([
    [0, 'now'],
    [59, 'now'],
    [60, '1 minute ago'],
    [3_599, '59 minutes ago'],
    [3 * 3_600, '3 hours ago'],
    [86_400, 'yesterday'],
    [6 * 86_400, '6 days ago'],
    [15 * 86_400, '2 weeks ago'],
    [70 * 86_400, '2 months ago'],
    [800 * 86_400, '2 years ago'],
  ])('%d s ago: %s', (seconds, expected) => {
    expect(relativeTime(ago(seconds), now, 'en')).toBe(expected);
  });

  it('speaks of the future and in Chinese', () => {
    expect(relativeTime(ago(-14 * 86_400), now, 'en')).toBe('in 2 weeks');
    expect(relativeTime(ago(3 * 3_600), now, 'zh-CN')).toBe('3小时前');
  });
});
