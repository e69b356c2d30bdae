import { ActionIcon, Badge, Button, Group, Popover, Stack, Text, UnstyledButton } from '@mantine/core';
import { bottomItemClass, Face, Frame, Logo } from '@sparkroom/ui';
import {
  IconBriefcase,
  IconChevronUp,
  IconDoor,
  IconLogout,
  IconPencilPlus,
  IconPlugConnectedX,
  IconSearch,
  IconUser,
} from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, NavLink, useNavigate } from 'react-router';
import { useLive } from '../live/live-provider.tsx';
import { useMe } from '../session/me.tsx';
import { Preferences } from '../session/preferences.tsx';
import { useSignOut } from '../session/use-sign-out.ts';
import { Finder } from './finder.tsx';
import { RailWorkspaces } from './rail-workspaces.tsx';
import classes from './shell.module.css';
import { ShortcutsDialog } from './shortcuts-dialog.tsx';
import { useShortcut } from './use-shortcut.ts';

/** Quiet sign that what is shown may be a little old. */
function LiveIndicator() {
  const { t } = useTranslation();
  const { interrupted } = useLive();
  return (
    <span role="status">
      {interrupted ? (
        <Badge
          variant="default"
          size="lg"
          tt="none"
          fw="normal"
          title={t('live.interrupted')}
          leftSection={<IconPlugConnectedX size="0.875rem" aria-hidden="true" />}
        >
          {t('live.short')}
        </Badge>
      ) : null}
    </span>
  );
}

function MeMenu() {
  const { t } = useTranslation();
  const me = useMe();
  const signOut = useSignOut();
  return (
    <Popover position="top-start" width="target" shadow="sm" trapFocus>
      <Popover.Target>
        <UnstyledButton className={classes.me} aria-haspopup="dialog">
          <Face name={me.name} />
          <span className={classes.meName}>{me.name}</span>
          <IconChevronUp size="1rem" aria-hidden="true" />
        </UnstyledButton>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('me.title')}>
        <Stack gap="md">
          <Text size="sm" c="dimmed">
            {me.email}
          </Text>
          <Preferences />
          <Button
            variant="default"
            leftSection={<IconLogout size="1.125rem" />}
            onClick={() => void signOut()}
          >
            {t('nav.signOut')}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

/** Rail, bars, finder and shortcuts around every page. */
export function Shell({ children }: { children: ReactNode }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { workspaceId: inWorkspace } = useLive();
  const [finding, setFinding] = useState(false);
  const [help, setHelp] = useState(false);
  const newIdea = inWorkspace ? `/w/${inWorkspace}/new` : '/new';

  useShortcut(['/', 'mod+k'], () => setFinding(true));
  useShortcut(['?'], () => setHelp(true));
  useShortcut(['n'], () => void navigate(newIdea));

  const rail = (
    <>
      <Group className={classes.brand} justify="space-between" wrap="nowrap">
        <Link to="/" className={classes.home}>
          <Logo />
          {t('app.name')}
        </Link>
        <LiveIndicator />
      </Group>
      <Stack gap="xs" px="md">
        <UnstyledButton className={classes.find} onClick={() => setFinding(true)}>
          <IconSearch size="1rem" aria-hidden="true" />
          <span className={classes.findText}>{t('nav.find')}</span>
          <kbd className={classes.key}>/</kbd>
        </UnstyledButton>
        <Button component={Link} to={newIdea} leftSection={<IconPencilPlus size="1.125rem" />}>
          {t('nav.newIdea')}
        </Button>
      </Stack>
      <RailWorkspaces />
      <div className={classes.foot}>
        <NavLink to="/work" className={classes.footLink ?? ''}>
          <IconBriefcase size="1.125rem" aria-hidden="true" />
          {t('nav.myWork')}
        </NavLink>
        <MeMenu />
      </div>
    </>
  );
  const top = (
    <>
      <Link to="/" className={classes.home}>
        <Logo />
        {t('app.name')}
      </Link>
      <Group ml="auto" gap="xs" wrap="nowrap">
        <LiveIndicator />
        <ActionIcon
          variant="subtle"
          color="gray"
          size="xl"
          aria-label={t('nav.find')}
          onClick={() => setFinding(true)}
        >
          <IconSearch size="1.25rem" />
        </ActionIcon>
      </Group>
    </>
  );
  const bottom = (
    <>
      <NavLink to="/" end className={bottomItemClass}>
        <IconDoor aria-hidden="true" />
        {t('nav.workspaces')}
      </NavLink>
      <NavLink to={newIdea} end className={bottomItemClass}>
        <IconPencilPlus aria-hidden="true" />
        {t('nav.newIdea')}
      </NavLink>
      <NavLink to="/work" className={bottomItemClass}>
        <IconBriefcase aria-hidden="true" />
        {t('nav.myWork')}
      </NavLink>
      <NavLink to="/me" className={bottomItemClass}>
        <IconUser aria-hidden="true" />
        {t('nav.me')}
      </NavLink>
    </>
  );
  return (
    <>
      <Frame rail={rail} top={top} bottom={bottom}>
        {children}
      </Frame>
      <Finder opened={finding} onClose={() => setFinding(false)} />
      <ShortcutsDialog opened={help} onClose={() => setHelp(false)} />
    </>
  );
}
