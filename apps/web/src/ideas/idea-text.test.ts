import { describe, expect, it } from 'vitest';
import { faultsOf } from './idea-text.ts';

const good = { title: 'A', text: 'B', tags: [] };

describe('faultsOf', () => {
  it('finds nothing in what the server takes', () => {
    expect(faultsOf(good)).toEqual({});
    expect(
      faultsOf({ title: '创'.repeat(200), text: '😀'.repeat(20_000), tags: Array(8).fill('标'.repeat(30)) }),
    ).toEqual({});
  });

  it.each([
    [{ ...good, title: '  ' }, { title: 'needTitle' }],
    [{ ...good, title: '创'.repeat(201) }, { title: 'needTitle' }],
    [{ ...good, text: '\n' }, { text: 'needText' }],
    [{ ...good, text: 'x'.repeat(20_001) }, { text: 'needText' }],
    [{ ...good, tags: Array(9).fill('t') }, { tags: 'needTags' }],
    [{ ...good, tags: ['t'.repeat(31)] }, { tags: 'needTags' }],
  ])('case %#', (idea, faults) => {
    expect(faultsOf(idea)).toEqual(faults);
  });
});
