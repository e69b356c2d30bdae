import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeCursor, encodeCursor, pageOf } from './cursor.ts';
import { DomainError } from './errors.ts';

const refuses = (call: () => unknown): void => {
  expect(call).toThrow(DomainError);
  expect(call).toThrow('This cursor belongs to another list. Start from the first page.');
};

describe('a cursor', () => {
  test('comes back as it was made', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        (text, number) => {
          const cursor = encodeCursor('list', [text, number]);
          expect(cursor).toMatch(/^[\w-]+$/);
          // JSON knows no -0.
          expect(decodeCursor('list', ['string', 'number'], cursor)).toEqual([text, number + 0]);
        },
      ),
    );
    const time = '2026-11-30 09:12:05.123456';
    expect(decodeCursor('l', ['time', 'id'], encodeCursor('l', [time, '01ABC']))).toEqual([time, '01ABC']);
  });

  test('that is absent is the beginning', () => {
    expect(decodeCursor('list', ['string'], null)).toBeNull();
    expect(decodeCursor('list', ['string'], undefined)).toBeNull();
  });

  test('of another list is refused', () => {
    refuses(() => decodeCursor('list', ['string'], encodeCursor('other', ['x'])));
    refuses(() => decodeCursor('list', ['string'], encodeCursor('list', ['x', 'y'])));
    refuses(() => decodeCursor('list', ['string', 'string'], encodeCursor('list', ['x'])));
    refuses(() => decodeCursor('list', ['number'], encodeCursor('list', ['5'])));
    refuses(() => decodeCursor('list', ['string'], encodeCursor('list', [5])));
  });

  test('with a time or an id that the database could choke on is refused', () => {
    for (const time of [
      '',
      'yesterday',
      '2026-13-45 99:99:99.999999',
      '2026-11-30',
      "2026-11-30 09:12:05.123456'",
    ]) {
      refuses(() => decodeCursor('l', ['time'], encodeCursor('l', [time])));
    }
    for (const id of ['', 'ä', 'a b', 'x'.repeat(65), "'"]) {
      refuses(() => decodeCursor('l', ['id'], encodeCursor('l', [id])));
    }
  });

  test('that was tampered with is refused or harmless, never anything else', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 60 }), (text) => {
        try {
          const [value] = decodeCursor('list', ['string'], text) ?? [''];
          expect(typeof value).toBe('string');
        } catch (error) {
          expect(error).toBeInstanceOf(DomainError);
        }
      }),
    );
    const good = encodeCursor('list', ['some title']);
    for (let i = 0; i < good.length; i++) {
      const bad = `${good.slice(0, i)}!${good.slice(i + 1)}`;
      try {
        expect(decodeCursor('list', ['string'], bad)).toHaveLength(1);
      } catch (error) {
        expect(error).toBeInstanceOf(DomainError);
      }
    }
    for (const json of ['{}', 'null', '5', '"x"', '[]', '["list",null]', '["list",[]]', '["list",1e999]']) {
      refuses(() => decodeCursor('list', ['string'], Buffer.from(json).toString('base64url')));
    }
    refuses(() => decodeCursor('list', ['number'], Buffer.from('["list",1e999]').toString('base64url')));
  });
});

describe('a page', () => {
  const cut = (n: number, limit: number) =>
    pageOf(
      Array.from({ length: n }, (_, i) => i),
      limit,
      (i) => `item ${i}`,
      (i) => `after ${i}`,
    );

  test('has a cursor only when there is more', () => {
    expect(cut(0, 2)).toEqual({ items: [], nextCursor: null });
    expect(cut(2, 2)).toEqual({ items: ['item 0', 'item 1'], nextCursor: null });
    expect(cut(3, 2)).toEqual({ items: ['item 0', 'item 1'], nextCursor: 'after 1' });
  });
});
