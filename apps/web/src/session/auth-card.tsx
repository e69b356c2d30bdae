import { Group, Stack, Text, UnstyledButton } from '@mantine/core';
import { Logo } from '@sparkroom/ui';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import classes from './auth-card.module.css';
import { currentLocale, switchLocale } from './locale.ts';

/** Frame of the pages before signing in. */
export function AuthCard({ children }: { children: ReactNode }) {
  const { t } = useTranslation();
  const other = currentLocale() === 'zh' ? 'en' : 'zh';
  return (
    <div className={classes.page}>
      <main className={classes.card} id="main">
        <Group gap="xs">
          <Logo />
          <Text fw={650} size="lg">
            {t('app.name')}
          </Text>
        </Group>
        <Text c="dimmed">{t('app.tagline')}</Text>
        <Stack mt="lg">{children}</Stack>
      </main>
      <UnstyledButton
        className={classes.language}
        lang={other === 'zh' ? 'zh-CN' : 'en'}
        onClick={() => void switchLocale(other)}
      >
        {other === 'zh' ? '中文' : 'English'}
      </UnstyledButton>
    </div>
  );
}
