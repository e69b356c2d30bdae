import type { Locale } from '@sparkroom/contract';
import { createI18n, intlLocale, pickLocale } from '@sparkroom/ui';

const KEY = 'sparkroom.locale';

/** The language somebody chose in this browser, or null. */
export function storedLocale(): string | null {
  return localStorage.getItem(KEY);
}

/** The texts: in the language chosen earlier, else the browser's. */
export const i18n = createI18n(pickLocale(storedLocale(), navigator.languages));

/** Shows the page in `locale` from now on, also at the next visit. */
export async function switchLocale(locale: Locale): Promise<void> {
  localStorage.setItem(KEY, locale);
  document.documentElement.lang = intlLocale[locale];
  await i18n.changeLanguage(locale);
}

export const currentLocale = (): Locale => (i18n.resolvedLanguage === 'zh' ? 'zh' : 'en');
