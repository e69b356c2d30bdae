import { describe, expect, it } from 'vitest';
import { en } from './en.ts';
import { createI18n, pickLocale } from './i18n.ts';
import { zh } from './zh.ts';

/** `path -> text` of every leaf. */
function flatten(value: object, prefix = ''): Map<string, string> {
  const all = new Map<string, string>();
  for (const [key, child] of Object.entries(value) as Array<[string, string | object]>) {
    const path = prefix ? `${prefix}.${key}` : key;
    if (typeof child === 'string') all.set(path, child);
    else for (const [k, v] of flatten(child, path)) all.set(k, v);
  }
  return all;
}

const english = flatten(en);
const chinese = flatten(zh);
const variables = (text: string): string[] =>
  [...text.matchAll(/\{\{(\w+)\}\}/g)].map((m) => m[1] ?? '').sort();

describe('texts', () => {
  it('has the same keys in both languages, plural forms aside', () => {
    const keys = (texts: Map<string, string>) => [...texts.keys()].filter((k) => !k.endsWith('_one')).sort();
    expect(keys(chinese)).toEqual(keys(english));
  });

  it('pairs every singular with a plural', () => {
    for (const key of english.keys()) {
      if (key.endsWith('_one')) expect(english.has(key.replace(/_one$/, '_other')), key).toBe(true);
    }
  });

  it('leaves no text empty and uses the same variables', () => {
    for (const [key, text] of [...english, ...chinese]) expect(text.trim(), key).not.toBe('');
    for (const [key, text] of chinese)
      expect(variables(text), key).toEqual(variables(english.get(key) ?? ''));
  });

  it('has no exclamation marks', () => {
    for (const [key, text] of [...english, ...chinese]) expect(text, key).not.toMatch(/[!！]/);
  });
});

describe('pickLocale', () => {
  it.each([
    ['zh', ['en-GB'], 'zh'],
    ['fr', ['zh-Hans-CN', 'en'], 'zh'],
    [null, ['de', 'en-US', 'zh'], 'en'],
    [null, ['fr'], 'en'],
    [null, [], 'en'],
  ] as const)('stored %s, browser %j: %s', (stored, preferred, expected) => {
    expect(pickLocale(stored, preferred)).toBe(expected);
  });
});

describe('createI18n', () => {
  it('speaks at once and fills in numbers', () => {
    const { t } = createI18n('en');
    expect(t('home.ideas', { count: 1 })).toBe('1 idea');
    expect(t('home.ideas', { count: 5 })).toBe('5 ideas');
    expect(createI18n('zh').t('home.ideas', { count: 1 })).toBe('1 个创意');
  });
});
