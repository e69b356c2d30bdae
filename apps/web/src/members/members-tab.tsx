import { ActionIcon, Button, Select, Stack, Text, Title } from '@mantine/core';
import type { Member, Role } from '@sparkroom/contract';
import { ErrorState, Face, RelativeTime, relativeTime, Skeletons, useIntlLocale } from '@sparkroom/ui';
import { IconUserMinus } from '@tabler/icons-react';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { client, queryClient, trpc } from '../api/client.ts';
import { troubleOf } from '../api/trouble.ts';
import { flat, useMembers } from '../api/use-pages.ts';
import { NewsBar } from '../ideas/news-bar.tsx';
import { useLive } from '../live/live-provider.tsx';
import { useMe } from '../session/me.tsx';
import { ConfirmDialog } from '../shell/confirm-dialog.tsx';
import { notifyDone, notifyError } from '../shell/notify.ts';
import { focusHeading, PageHeading } from '../shell/page-heading.tsx';
import { useWorkspace } from '../workspace/use-workspace.ts';
import { InviteForm } from './invite-form.tsx';
import classes from './members-tab.module.css';
import { useRoleChoices } from './use-role-choices.ts';

function refresh(): void {
  void queryClient.invalidateQueries({ queryKey: trpc.members.pathKey() });
  void queryClient.invalidateQueries({ queryKey: trpc.invitations.pathKey() });
  void queryClient.invalidateQueries({ queryKey: trpc.workspaces.pathKey() });
}

function MemberRow({ member, manage }: { member: Member; manage: boolean }) {
  const { t } = useTranslation();
  const me = useMe();
  const navigate = useNavigate();
  const workspace = useWorkspace();
  const roles = useRoleChoices();
  const [removing, setRemoving] = useState(false);
  const own = member.userId === me.id;
  const setRole = useMutation({
    mutationFn: (role: Role) =>
      client.members.setRole.mutate({ workspaceId: workspace.id, userId: member.userId, role }),
    onSuccess: () => notifyDone(t('common.saved')),
    onError: notifyError,
    onSettled: refresh,
  });
  const remove = useMutation({
    mutationFn: () => client.members.remove.mutate({ workspaceId: workspace.id, userId: member.userId }),
    onSuccess: async () => {
      if (own) {
        await navigate('/');
        notifyDone(t('members.left', { name: workspace.name }));
      } else {
        setRemoving(false);
        focusHeading();
      }
      refresh();
    },
    onError: (error) => {
      setRemoving(false);
      notifyError(error);
    },
  });
  return (
    <li className={classes.member}>
      <Face name={member.name} />
      <div className={classes.grow}>
        <Text fw={600}>
          {member.name}
          {own ? ` (${t('common.you')})` : ''}
        </Text>
        <Text size="sm" c="dimmed">
          {member.email}
        </Text>
      </div>
      <Text size="sm" c="dimmed" className={classes.since}>
        <RelativeTime at={member.since} />
      </Text>
      {manage ? (
        <Select
          className={classes.role ?? ''}
          aria-label={t('members.roleOf', { name: member.name })}
          value={setRole.isPending ? setRole.variables : member.role}
          onChange={(value) => value && setRole.mutate(value as Role)}
          data={roles}
        />
      ) : (
        <Text className={classes.role ?? ''}>{t(`role.${member.role}`)}</Text>
      )}
      {own ? (
        <Button variant="subtle" color="red" size="compact-md" onClick={() => setRemoving(true)}>
          {t('members.leave')}
        </Button>
      ) : manage ? (
        <ActionIcon
          variant="subtle"
          color="red"
          size="lg"
          aria-label={t('members.removeFrom', { name: member.name })}
          title={t('members.removeFrom', { name: member.name })}
          onClick={() => setRemoving(true)}
        >
          <IconUserMinus size="1.125rem" />
        </ActionIcon>
      ) : null}
      <ConfirmDialog
        opened={removing}
        onClose={() => setRemoving(false)}
        onConfirm={() => remove.mutate()}
        busy={remove.isPending}
        danger
        title={own ? t('members.leaveTitle') : t('members.removeTitle', { name: member.name })}
        text={own ? t('members.leaveText') : t('members.removeText')}
        confirm={own ? t('members.leave') : t('common.remove')}
      />
    </li>
  );
}

function OpenInvitations({ workspaceId }: { workspaceId: string }) {
  const { t } = useTranslation();
  const locale = useIntlLocale();
  const list = useInfiniteQuery(
    trpc.invitations.list.infiniteQueryOptions(
      { workspaceId, limit: 50 },
      { getNextPageParam: (page) => page.nextCursor },
    ),
  );
  const revoke = useMutation({
    mutationFn: (id: string) => client.invitations.revoke.mutate({ workspaceId, id }),
    onSuccess: () => {
      notifyDone(t('members.revoked'));
      focusHeading();
    },
    onError: notifyError,
    onSettled: refresh,
  });
  const items = flat(list.data);
  return (
    <section aria-labelledby="open-invitations">
      <Title order={2} size="h4" id="open-invitations" mb="xs">
        {t('members.open')}
      </Title>
      {list.error ? (
        <ErrorState trouble={troubleOf(list.error)} onRetry={() => void list.refetch()} />
      ) : list.isPending ? (
        <Skeletons count={1} height={3} />
      ) : items.length === 0 ? (
        <Text c="dimmed">{t('members.noOpen')}</Text>
      ) : (
        <ul className={classes.list}>
          {items.map((invitation) => (
            <li key={invitation.id} className={classes.member}>
              <div className={classes.grow}>
                <Text>{invitation.email}</Text>
                <Text size="sm" c="dimmed">
                  {t(`role.${invitation.role}`)} · {t('common.by', { name: invitation.invitedBy.name })} ·{' '}
                  {t('members.expires', {
                    when: relativeTime(Date.parse(invitation.expiresAt), Date.now(), locale),
                  })}
                </Text>
              </div>
              <Button
                variant="default"
                size="compact-md"
                loading={revoke.isPending && revoke.variables === invitation.id}
                onClick={() => revoke.mutate(invitation.id)}
              >
                {t('members.revoke')}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {list.hasNextPage ? (
        <Button mt="sm" variant="default" onClick={() => void list.fetchNextPage()}>
          {t('common.loadMore')}
        </Button>
      ) : null}
    </section>
  );
}

/** Who is in the workspace; owners bring people in, change roles and remove. */
export function MembersTab() {
  const { t } = useTranslation();
  const workspace = useWorkspace();
  const { news, seen } = useLive();
  const { members, error, isPending, refetch } = useMembers(workspace.id);
  const manage = workspace.may.manageMembers;
  return (
    <section>
      <NewsBar
        text={news.members ? t('members.changed') : ''}
        onShow={() => {
          seen({ members: false });
          refresh();
        }}
      />
      <Stack gap="lg">
        <PageHeading title={`${t('members.title')} · ${workspace.name}`}>
          <span className={classes.heading}>{t('members.title')}</span>
        </PageHeading>
        {error && members.length === 0 ? (
          <ErrorState trouble={troubleOf(error)} onRetry={() => void refetch()} />
        ) : isPending ? (
          <Skeletons count={4} height={3} />
        ) : (
          <ul className={classes.list}>
            {members.map((member) => (
              <MemberRow key={member.userId} member={member} manage={manage} />
            ))}
          </ul>
        )}
        {manage ? (
          <>
            <InviteForm workspaceId={workspace.id} />
            <OpenInvitations workspaceId={workspace.id} />
          </>
        ) : null}
      </Stack>
    </section>
  );
}
