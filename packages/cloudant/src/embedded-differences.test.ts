import { describe, expect, it } from 'vitest';
import { bulkRowsInOrder, linkedDocument } from './embedded-differences.ts';

describe('linkedDocument', () => {
  it("is null for a document that is missing, in either server's words, or deleted", () => {
    expect(linkedDocument({})).toBeNull();
    expect(linkedDocument({ doc: null })).toBeNull();
    expect(linkedDocument({ doc: { _id: 'a', _deleted: true } })).toBeNull();
    expect(linkedDocument({ doc: { _id: 'a' } })).toEqual({ _id: 'a' });
  });
});

describe('bulkRowsInOrder', () => {
  const sent = [{ _id: 'a' }, { _id: 'b' }, { _id: 'a' }];
  it('sorts by what was sent, also when an id was sent twice', () => {
    const rows = [
      { id: 'b', n: 1 },
      { id: 'a', n: 2 },
      { id: 'a', n: 3 },
    ];
    expect(bulkRowsInOrder(sent, rows)?.map((row) => row.n)).toEqual([2, 1, 3]);
  });

  it('finds rows that are missing, foreign or too many', () => {
    expect(bulkRowsInOrder(sent, [{ id: 'a' }, { id: 'b' }])).toBeUndefined();
    expect(bulkRowsInOrder(sent, [{ id: 'a' }, { id: 'b' }, { id: 'c' }])).toBeUndefined();
    expect(bulkRowsInOrder([{ _id: 'a' }], [{ id: 'a' }, { id: 'a' }])).toBeUndefined();
  });
});
