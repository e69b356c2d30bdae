import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  defineEvent,
  type EventPayload,
  events,
  subjectOf,
  subjectToken,
  UnknownEventError,
  upcast,
} from './index.ts';

test('an event definition takes its payload type from the highest version', () => {
  const moved = defineEvent(
    'shelf.moved',
    { 1: z.object({ a: z.string() }), 2: z.object({ b: z.number() }) },
    {
      1: (p: { a: string }) => ({ b: p.a.length }),
    },
  );
  const latest: z.infer<typeof moved.latest> = { b: 1 };
  expect(moved.latest.parse(latest)).toEqual({ b: 1 });
  expect(moved.version).toBe(2);
});

test('a gap between versions or a missing upcaster is refused', () => {
  // The compiler refuses them too.
  const define = defineEvent as unknown as (name: string, schemas: object) => unknown;
  expect(() => define('shelf.moved', { 2: z.object({}) })).toThrow('version 1 is missing');
  expect(() => define('shelf.moved', { 1: z.object({}), 2: z.object({}) })).toThrow(
    'upcaster from version 1',
  );
});

test('upcast refuses what the catalogue does not know', () => {
  const payload: EventPayload<'idea.rated'> = { userId: 'u', raters: 3, first: true };
  expect(upcast('idea.rated', 1, payload)).toEqual(payload);
  expect(() => upcast('idea.rated', 99, payload)).toThrow(UnknownEventError);
  expect(() => upcast('nothing.happened', 1, {})).toThrow(UnknownEventError);
  expect(() => upcast('idea.rated', 1, { raters: 'many' })).toThrow(z.ZodError);
});

test('every name is aggregate dot past tense in camel case', () => {
  for (const name of events.keys()) expect(name).toMatch(/^[a-z]+\.[a-z][A-Za-z]*$/);
});

test('ids with dots, blanks or wildcards cannot widen a subject', () => {
  expect(subjectToken('a.b>*c d')).toBe('a=2Eb=3E=2Ac=20d');
  expect(subjectOf('sparkroom', null, 'user', 'ü')).toBe('sparkroom._.user.=C3=BC');
  expect(subjectToken('a=2Eb')).not.toBe(subjectToken('a.b'));
});
