import { type MantineColorScheme, SegmentedControl, Stack, Text, useMantineColorScheme } from '@mantine/core';
import type { Locale } from '@sparkroom/contract';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { currentLocale } from './locale.ts';
import { chooseLocale } from './me.tsx';

/** Language and appearance. */
export function Preferences() {
  const { t } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const language = useId();
  const appearance = useId();
  return (
    <Stack gap="sm">
      <div>
        <Text size="sm" id={language} mb="xs">
          {t('common.language')}
        </Text>
        <SegmentedControl
          fullWidth
          aria-labelledby={language}
          value={currentLocale()}
          onChange={(value) => void chooseLocale(value as Locale)}
          data={[
            { value: 'en', label: 'English' },
            { value: 'zh', label: '中文' },
          ]}
        />
      </div>
      <div>
        <Text size="sm" id={appearance} mb="xs">
          {t('common.theme')}
        </Text>
        <SegmentedControl
          fullWidth
          aria-labelledby={appearance}
          value={colorScheme}
          onChange={(value) => setColorScheme(value as MantineColorScheme)}
          data={[
            { value: 'light', label: t('common.light') },
            { value: 'dark', label: t('common.dark') },
            { value: 'auto', label: t('common.system') },
          ]}
        />
      </div>
    </Stack>
  );
}
