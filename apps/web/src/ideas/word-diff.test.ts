import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wordDiff } from './word-diff.ts';

const side = (parts: ReturnType<typeof wordDiff>, other: 'added' | 'deleted') =>
  parts
    .filter((p) => p.kind !== other)
    .map((p) => p.text)
    .join('');

describe('wordDiff', () => {
  it('marks the words that changed', () => {
    expect(wordDiff('Ask the store manager first.', 'Ask the area manager first.')).toEqual([
      { kind: 'same', text: 'Ask the ' },
      { kind: 'deleted', text: 'store' },
      { kind: 'added', text: 'area' },
      { kind: 'same', text: ' manager first.' },
    ]);
  });

  it('marks Chinese words, not whole sentences', () => {
    const parts = wordDiff('先在三家门店试点两周。', '先在五家门店试点两周。');
    expect(parts.find((p) => p.kind === 'deleted')?.text).toBe('三');
    expect(parts.find((p) => p.kind === 'added')?.text).toBe('五');
  });

  it('keeps both texts whole, whatever they are', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', 'b', ' ', '\n', '创', '意', '😀', '.'),
      maxLength: 60,
    });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const parts = wordDiff(before, after);
        expect(side(parts, 'added')).toBe(before);
        expect(side(parts, 'deleted')).toBe(after);
      }),
    );
  });

  it('marks nothing in equal texts', () => {
    expect(wordDiff('same', 'same')).toEqual([{ kind: 'same', text: 'same' }]);
    expect(wordDiff('', '')).toEqual([]);
  });

  it('is quick on the longest texts, and still whole', () => {
    const long = (word: string) => `${word} `.repeat(10_000).slice(0, 20_000);
    const before = long('alpha beta');
    const after = long('gamma delta');
    const started = performance.now();
    const parts = wordDiff(before, after);
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(side(parts, 'added')).toBe(before);
    expect(side(parts, 'deleted')).toBe(after);
  });
});
