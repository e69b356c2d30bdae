import { describe, expect, it } from 'vitest';
import { defineDesign, hashOf } from './design.ts';

const views = (map: string) => ({ name: 'x', version: 1, views: { a: { map } } });

describe('defineDesign', () => {
  it('writes a Mango index in the form in which CouchDB stores it', () => {
    const design = defineDesign({
      name: 'x',
      version: 3,
      index: { name: 'i', fields: ['type', 'username'] },
    });
    expect(design.content).toEqual({
      language: 'query',
      views: {
        i: {
          map: { fields: { type: 'asc', username: 'asc' } },
          reduce: '_count',
          options: { def: { fields: ['type', 'username'] } },
        },
      },
      sparkroom: { version: 3 },
    });
  });

  it('has the same hash for the same index, whatever the version and the order of names', () => {
    const one = defineDesign(views('f'));
    expect(defineDesign({ ...views('f'), version: 2 }).hash).toBe(one.hash);
    expect(hashOf({ _id: '_design/x', _rev: '1-a', ...one.content })).toBe(one.hash);
    expect(hashOf({ views: { a: { map: 'f' } }, language: 'javascript' })).toBe(one.hash);
    expect(defineDesign(views('g')).hash).not.toBe(one.hash);
  });

  it('has another hash for another order of the fields of an index', () => {
    const index = (fields: string[]) => defineDesign({ name: 'x', version: 1, index: { name: 'i', fields } });
    expect(index(['a', 'b']).hash).not.toBe(index(['b', 'a']).hash);
  });

  it.each([
    [{ ...views('f'), name: 'A/b' }, 'small letters'],
    [{ ...views('f'), version: 0 }, 'needs a version'],
    [{ name: 'x', version: 1, views: {} }, 'defines nothing'],
    [{ name: 'x', version: 1, index: { name: 'i', fields: [] } }, 'defines nothing'],
  ])('refuses %j', (definition, message) => {
    expect(() => defineDesign(definition)).toThrow(message);
  });
});
