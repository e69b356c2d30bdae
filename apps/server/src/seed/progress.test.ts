import type { WriteStream } from 'node:tty';
import { expect, test } from 'vitest';
import { duration, Progress } from './progress.ts';

function screen(isTTY: boolean) {
  const written: string[] = [];
  const out = { isTTY, write: (text: string) => written.push(text) } as unknown as WriteStream;
  return { written, out };
}

test('without a terminal: a plain line for every tenth, none of them overwritten', () => {
  const { written, out } = screen(false);
  const progress = new Progress('things', 1000, 0, out);
  for (let i = 0; i < 40; i++) progress.add(25);
  expect(written).toHaveLength(10);
  expect(written[0]).toMatch(/^ 10 % {2}100 of 1,000 things, about .+ left\n$/);
  expect(written.at(-1)).toMatch(/^100 % {2}1,000 of 1,000 things, took .+\n$/);
  expect(written.join('')).not.toContain('\r');
});

test('on a terminal: one line with a bar, ended at the end', () => {
  const { written, out } = screen(true);
  const progress = new Progress('things', 4, 2, out);
  progress.add(1);
  progress.add(1);
  expect(written.every((text) => text.startsWith('\r'))).toBe(true);
  expect(written[0]).toContain('░');
  expect(written.at(-1)).toMatch(/█{30}.*\n$/);
});

test('durations', () => {
  expect(duration(0.2)).toBe('1 s');
  expect(duration(59)).toBe('59 s');
  expect(duration(125)).toBe('2 min 5 s');
});
