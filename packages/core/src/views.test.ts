import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { excerptOf, ideaScore } from './views.ts';

describe('an excerpt', () => {
  test('is the text on one line', () => {
    expect(excerptOf('  one\n\ttwo \u3000 three\r\n')).toBe('one two three');
    expect(excerptOf('x'.repeat(280))).toBe('x'.repeat(280));
    expect(excerptOf('')).toBe('');
  });

  test('is cut at 280 characters as people count them, with an ellipsis', () => {
    expect(excerptOf('x'.repeat(281))).toBe(`${'x'.repeat(279)}…`);
    expect(excerptOf('想'.repeat(300))).toBe(`${'想'.repeat(279)}…`);
    // Two code units each: counted as one, never cut through the middle.
    expect(excerptOf('🎈'.repeat(280))).toBe('🎈'.repeat(280));
    expect(excerptOf('🎈'.repeat(281))).toBe(`${'🎈'.repeat(279)}…`);
  });

  test('of any text fits its column and is well formed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 800 }), (text) => {
        const excerpt = excerptOf(text);
        expect([...excerpt].length).toBeLessThanOrEqual(280);
        expect(excerpt.isWellFormed()).toBe(true);
        expect(excerpt).not.toMatch(/[\n\r\t]/);
      }),
    );
  });
});

test('an author who rates is not among those expected to rate the idea', () => {
  const frame = { raters: 11, ratings: 0, sum: 0 };
  const none = { count: 0, sum: 0, sumsq: 0 };
  expect(ideaScore(none, frame, true).eligible).toBe(10);
  expect(ideaScore(none, frame, false).eligible).toBe(11);
  expect(ideaScore(none, { ...frame, raters: 0 }, true).eligible).toBe(0);
});
