import { Button, Container, Group, Stack, Text } from '@mantine/core';
import { Face } from '@sparkroom/ui';
import { IconLogout } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { PageHeading } from '../shell/page-heading.tsx';
import { useMe } from './me.tsx';
import { Preferences } from './preferences.tsx';
import { useSignOut } from './use-sign-out.ts';

export function MePage() {
  const { t } = useTranslation();
  const me = useMe();
  const signOut = useSignOut();
  return (
    <Container size="xs" mx={0} p={0}>
      <Stack gap="lg">
        <PageHeading title={t('me.title')}>{me.name}</PageHeading>
        <Group wrap="nowrap">
          <Face name={me.name} />
          <div>
            <Text size="sm" c="dimmed">
              {t('me.signedInAs')}
            </Text>
            <Text>{me.email}</Text>
          </div>
        </Group>
        <Preferences />
        <Group>
          <Button
            variant="default"
            leftSection={<IconLogout size="1.125rem" />}
            onClick={() => void signOut()}
          >
            {t('nav.signOut')}
          </Button>
        </Group>
      </Stack>
    </Container>
  );
}
