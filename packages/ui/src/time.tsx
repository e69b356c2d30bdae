import { useTranslation } from 'react-i18next';
import { intlLocale } from './i18n/i18n.ts';
import { exactTime, relativeTime } from './relative-time.ts';

/** `Intl` locale of the language shown now. */
export function useIntlLocale(): string {
  const { i18n } = useTranslation();
  return i18n.resolvedLanguage === 'zh' ? intlLocale.zh : intlLocale.en;
}

/** "3 hours ago"; the exact time on hover. It does not tick: nothing moves while somebody reads. */
export function RelativeTime({ at }: { at: string }) {
  const locale = useIntlLocale();
  const instant = Date.parse(at);
  return (
    <time dateTime={at} title={exactTime(instant, locale)}>
      {relativeTime(instant, Date.now(), locale)}
    </time>
  );
}
