import type { Locale } from '@sparkroom/contract';
import i18next, { type i18n } from 'i18next';
import { initReactI18next } from 'react-i18next';
import { en } from './en.ts';
import { zh } from './zh.ts';

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'translation';
    resources: { translation: typeof en };
  }
}

/** `lang` attribute and `Intl` locale of each language. */
export const intlLocale: Record<Locale, string> = { en: 'en', zh: 'zh-CN' };

/**
 * The language to begin with.
 * @param stored what an earlier visit saved
 * @param preferred the browser's languages, most wanted first
 */
export function pickLocale(stored: string | null, preferred: readonly string[]): Locale {
  if (stored === 'en' || stored === 'zh') return stored;
  for (const language of preferred) {
    if (/^zh\b/i.test(language)) return 'zh';
    if (/^en\b/i.test(language)) return 'en';
  }
  return 'en';
}

/**
 * Starts i18next with both languages, ready at once (the texts are part of the program).
 * @param locale language to begin with
 */
export function createI18n(locale: Locale): i18n {
  const instance = i18next.createInstance();
  void instance.use(initReactI18next).init({
    lng: locale,
    fallbackLng: 'en',
    resources: { en: { translation: en }, zh: { translation: zh } },
    interpolation: { escapeValue: false },
    initAsync: false,
  });
  return instance;
}
