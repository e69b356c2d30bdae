import { expect, it } from 'vitest';
import { initials } from './initials.ts';

it.each([
  ['Ana Lopez', 'AL'],
  ['Ana Maria de la Cruz', 'AC'],
  ['cher', 'C'],
  ['王小明', '小明'],
  ['李娜', '李娜'],
  ['😀 Bo', '😀B'],
  ['', '?'],
])('%s: %s', (name, expected) => {
  expect(initials(name)).toBe(expected);
});
