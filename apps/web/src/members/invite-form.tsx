import { Alert, Button, CopyButton, Group, Select, Stack, Text, TextInput, Title } from '@mantine/core';
import { reasonOf } from '@sparkroom/client';
import type { Role } from '@sparkroom/contract';
import { troubleText } from '@sparkroom/ui';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client, queryClient, trpc } from '../api/client.ts';
import { troubleOf } from '../api/trouble.ts';
import { notifyDone } from '../shell/notify.ts';
import classes from './members-tab.module.css';
import { useRoleChoices } from './use-role-choices.ts';

/** The link of a new invitation, shown this once. */
function InvitationLink({ email, token }: { email: string; token: string }) {
  const { t } = useTranslation();
  const link = `${window.location.origin}/invite/${encodeURIComponent(token)}`;
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  return (
    <Alert title={t('members.linkTitle', { email })}>
      <Text mb="xs">{t('members.linkText')}</Text>
      <Group align="end" gap="xs">
        <TextInput
          ref={field}
          className={classes.grow ?? ''}
          label={t('members.linkLabel')}
          readOnly
          value={link}
          onFocus={(event) => event.currentTarget.select()}
        />
        <CopyButton value={link}>
          {({ copied, copy }) => (
            <Button onClick={copy}>{copied ? t('common.copied') : t('common.copy')}</Button>
          )}
        </CopyButton>
      </Group>
    </Alert>
  );
}

/** Brings somebody in: by a link for an address, or at once when there is an account. */
export function InviteForm({ workspaceId }: { workspaceId: string }) {
  const { t } = useTranslation();
  const roles = useRoleChoices();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const refresh = () => {
    void queryClient.invalidateQueries({ queryKey: trpc.members.pathKey() });
    void queryClient.invalidateQueries({ queryKey: trpc.invitations.pathKey() });
    void queryClient.invalidateQueries({ queryKey: trpc.workspaces.pathKey() });
  };
  const invite = useMutation({
    mutationFn: () => client.invitations.create.mutate({ workspaceId, email, role }),
    onSuccess: () => {
      setEmail('');
      add.reset();
      refresh();
    },
  });
  const add = useMutation({
    mutationFn: () => client.members.add.mutate({ workspaceId, email, role }),
    onSuccess: (member) => {
      setEmail('');
      invite.reset();
      notifyDone(t('members.added', { name: member.name }));
      refresh();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.reset();
    invite.mutate();
  };
  const error = invite.error ?? add.error;
  const refused = error ? troubleText(t, troubleOf(error)) : null;
  return (
    <section className={classes.invite} aria-labelledby="invite-title">
      <Title order={2} size="h4" id="invite-title">
        {t('members.inviteTitle')}
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {t('members.inviteText')}
      </Text>
      <form onSubmit={submit}>
        <Stack gap="sm">
          <Group align="start" gap="sm">
            <TextInput
              className={classes.grow ?? ''}
              label={t('auth.email')}
              type="email"
              required
              value={email}
              onChange={(event) => setEmail(event.currentTarget.value)}
            />
            <Select
              label={t('members.role')}
              description={t(`roleHint.${role}`)}
              inputWrapperOrder={['label', 'input', 'description']}
              value={role}
              onChange={(value) => setRole((value ?? 'member') as Role)}
              data={roles}
            />
          </Group>
          <Group gap="sm">
            <Button type="submit" loading={invite.isPending}>
              {t('members.invite')}
            </Button>
            <Button
              variant="default"
              loading={add.isPending}
              onClick={(event) => {
                invite.reset();
                if (event.currentTarget.form?.reportValidity()) add.mutate();
              }}
            >
              {t('members.add')}
            </Button>
          </Group>
          {refused ? (
            <Alert color="red" role="alert" title={refused.title}>
              {refused.text}
              {reasonOf(error) === 'USER_NOT_REGISTERED' ? (
                <Group mt="xs">
                  <Button
                    size="compact-sm"
                    onClick={() => {
                      add.reset();
                      invite.mutate();
                    }}
                  >
                    {t('members.inviteInstead')}
                  </Button>
                </Group>
              ) : null}
            </Alert>
          ) : null}
          {invite.data ? (
            <InvitationLink key={invite.data.id} email={invite.data.email} token={invite.data.token} />
          ) : null}
        </Stack>
      </form>
    </section>
  );
}
