import { describe, expect, it } from 'vitest';
import { FILTERS, readView, SORTS, STATUSES, writeView } from './list-view.ts';

describe('the view of a list in the address', () => {
  it('comes back as it was written', () => {
    for (const sort of SORTS)
      for (const filter of FILTERS)
        for (const status of [null, ...STATUSES]) {
          const view = { sort, filter, status };
          expect(readView(new URLSearchParams(writeView(view)))).toEqual(view);
        }
  });

  it('leaves out what is usual and ignores what is unknown', () => {
    expect(writeView({ sort: 'newest', filter: 'all', status: null })).toEqual({});
    expect(readView(new URLSearchParams('sort=best&filter=x&status=toString'))).toEqual({
      sort: 'newest',
      filter: 'all',
      status: null,
    });
  });
});
