import { describe, expect, it } from 'vitest';
import { patched } from './patch-ideas.ts';

const rate = () => ({ myRating: 4 });

describe('patched', () => {
  it('changes the idea alone, in a page and in pages of pages, and nothing else', () => {
    const a = { id: 'a', myRating: null };
    const b = { id: 'b', myRating: 2 };
    expect(patched(a, 'a', rate)).toEqual({ id: 'a', myRating: 4 });
    expect(patched(b, 'a', rate)).toBe(b);
    expect(patched({ items: [a, b], nextCursor: 'x' }, 'a', rate)).toEqual({
      items: [{ id: 'a', myRating: 4 }, b],
      nextCursor: 'x',
    });
    expect(patched({ pages: [{ items: [b] }, { items: [a] }], pageParams: [] }, 'a', rate)).toEqual({
      pages: [{ items: [b] }, { items: [{ id: 'a', myRating: 4 }] }],
      pageParams: [],
    });
  });

  it('leaves what is not loaded alone', () => {
    expect(patched(undefined, 'a', rate)).toBeUndefined();
    expect(patched(null, 'a', rate)).toBeNull();
  });
});
