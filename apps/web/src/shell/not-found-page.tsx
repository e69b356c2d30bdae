import { Button, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { PageHeading } from './page-heading.tsx';

export function NotFoundPage() {
  const { t } = useTranslation();
  return (
    <Stack align="flex-start">
      <PageHeading title={t('error.notFoundRoute')}>{t('error.notFoundRoute')}</PageHeading>
      <Text>{t('error.notFoundRouteText')}</Text>
      <Button component={Link} to="/">
        {t('error.home')}
      </Button>
    </Stack>
  );
}
