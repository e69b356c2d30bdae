import { describe, expect, it } from 'vitest';
import { splitLinks } from './links.ts';

const links = (text: string) => splitLinks(text).flatMap((p) => (p.kind === 'link' ? [p.value] : []));

describe('splitLinks', () => {
  it('keeps every character', () => {
    const text = 'See https://a.example/x?y=1, then (http://b.example). 参见https://c.example/路径。好';
    expect(
      splitLinks(text)
        .map((p) => p.value)
        .join(''),
    ).toBe(text);
    expect(links(text)).toEqual(['https://a.example/x?y=1', 'http://b.example', 'https://c.example/路径']);
  });

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://a.example',
    'https://',
    '<script>alert(1)</script>',
    '',
  ])('%s is text', (text) => {
    expect(links(text)).toEqual([]);
  });
});
