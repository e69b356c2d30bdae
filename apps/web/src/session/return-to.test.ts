import { describe, expect, it } from 'vitest';
import { safePath, signInPath } from './return-to.ts';

describe('safePath', () => {
  it.each([
    ['/w/abc?sort=title#x', '/w/abc?sort=title#x'],
    ['/', '/'],
    [null, '/'],
    ['', '/'],
    ['//evil.example/x', '/'],
    ['/\\evil.example', '/'],
    ['/\t/evil.example', '/'],
    ['https://evil.example', '/'],
    ['javascript:alert(1)', '/'],
    ['/sign-in?next=/w/1', '/'],
    ['/sign-up', '/'],
    ['/invite/tok', '/invite/tok'],
  ])('%s: %s', (value, expected) => {
    expect(safePath(value)).toBe(expected);
  });
});

describe('signInPath', () => {
  it('names where to return to and why', () => {
    expect(signInPath('/ideas/1', true)).toBe('/sign-in?next=%2Fideas%2F1&expired=1');
    expect(signInPath('/', false)).toBe('/sign-in');
  });
});
