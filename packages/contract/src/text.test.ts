import { expect, test } from 'vitest';
import { Email, Id, inputs, line, Stars, text } from './index.ts';

test('length is counted in code points: Chinese and emoji have the room that Latin letters have', () => {
  const schema = text(1, 5);
  expect(schema.parse('创意创意创')).toBe('创意创意创');
  expect(schema.parse('😀😀😀😀😀')).toBe('😀😀😀😀😀');
  expect(schema.safeParse('😀😀😀😀😀😀').error?.issues[0]?.message).toBe('Write at most 5 characters.');
});

test('blank, control characters and half characters are refused in words', () => {
  expect(text(1, 9).safeParse('   ').error?.issues[0]?.message).toBe('Write at least 1 character.');
  expect(text(1, 9).safeParse('a\u0000b').error?.issues[0]?.message).toContain('control characters');
  expect(text(1, 9).safeParse('a\ud800').error?.issues[0]?.message).toContain('lone surrogate');
  expect(line(1, 9).safeParse('a\nb').success).toBe(false);
  expect(text(1, 9).parse(' a\r\nb ')).toBe('a\nb');
});

test.each([
  ['an override', '\u202e'],
  ['zero-width space', '\u200b'],
  ['joiner', '\u200d\u200d'],
  ['isolates around nothing', '\u2066 \u2069'],
  ['soft hyphen and word joiner', '\u00ad\u2060'],
  ['Hangul filler', '\u3164'],
  ['empty Braille cell', '\u2800'],
  ['variation selector', '\ufe0f'],
])('a text of nothing but %s is empty', (_, value) => {
  for (const schema of [text(1, 9), line(1, 9)]) {
    expect(schema.safeParse(value).error?.issues[0]?.message).toBe('Write at least 1 character.');
  }
  expect(text(0, 9).safeParse(value).success).toBe(true);
});

test('one line does not turn the direction of writing; longer texts may', () => {
  for (const code of [0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069]) {
    const value = `a${String.fromCharCode(code)}b`;
    expect(line(1, 9).safeParse(value).error?.issues[0]?.message).toContain('direction of writing');
    expect(text(1, 9).parse(value)).toBe(value);
  }
});

test.each([
  ['family emoji', '👨‍👩‍👧 x'],
  ['rainbow flag', '🏳️‍🌈'],
  ['Persian', 'می‌خواهم'],
  ['Devanagari', 'क्‍ष'],
  ['Hebrew', 'שלום'],
  ['a direction mark', 'C\u200e++'],
])('joiners and marks stay in %s', (_, value) => {
  expect(line(1, 20).parse(value)).toBe(value);
});

test('ids are compared byte by byte, e-mail addresses without case', () => {
  expect(Id.safeParse('').success).toBe(false);
  expect(Id.safeParse('a b').success).toBe(false);
  expect(Id.safeParse('x'.repeat(65)).success).toBe(false);
  expect(Id.parse('client0_id')).toBe('client0_id');
  expect(Email.parse(' Ana@Example.COM ')).toBe('ana@example.com');
});

test.each([0, 6, 3.5, -1, Number.NaN, '3', null])('rating %s is refused with one sentence', (stars) => {
  expect(Stars.safeParse(stars).error?.issues[0]?.message).toBe('Rate with a whole number from 1 to 5.');
});

test('pages that bring texts have at most twenty of them', () => {
  const { list, history } = inputs.ideas;
  const messages = (limit: number) => [
    list.safeParse({ workspaceId: 'w', limit, withBody: true }).error?.issues[0]?.message,
    history.safeParse({ id: 'i', limit }).error?.issues[0]?.message,
  ];
  expect(messages(20)).toEqual([undefined, undefined]);
  expect(messages(21)).toEqual([
    'With texts a page has at most 20 ideas.',
    'A page of history has at most 20 versions.',
  ]);
  expect(list.parse({ workspaceId: 'w', limit: 100 }).limit).toBe(100);
});

test('list inputs may be left out', () => {
  expect(inputs.workspaces.list.parse(undefined)).toEqual({ limit: 20, archived: false });
  expect(inputs.me.clients.parse(undefined)).toEqual({ limit: 20 });
});
