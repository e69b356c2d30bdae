import { Button, Container, Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** A page threw while drawing, or its code could not be loaded (the site was updated in the meantime). */
export function CrashPage() {
  const { t } = useTranslation();
  return (
    <Container component="main" py="xl" size="sm">
      <Stack align="flex-start" role="alert">
        <Title order={1}>{t('error.crash')}</Title>
        <Text>{t('error.crashText')}</Text>
        <Button onClick={() => window.location.reload()}>{t('error.reload')}</Button>
      </Stack>
    </Container>
  );
}
