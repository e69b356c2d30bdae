import { Button, Group, Text } from '@mantine/core';
import { reasonOf } from '@sparkroom/client';
import { ErrorState, Skeletons } from '@sparkroom/ui';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, Navigate, useNavigate, useParams } from 'react-router';
import { client, queryClient, trpc } from '../api/client.ts';
import { troubleOf } from '../api/trouble.ts';
import { AuthCard } from '../session/auth-card.tsx';
import { signInPath } from '../session/return-to.ts';
import { useSignOut } from '../session/use-sign-out.ts';
import { PageHeading } from '../shell/page-heading.tsx';

/** Accepts an invitation. Without a session it first leads to sign in or up; the address keeps the token meanwhile. */
export function InvitePage() {
  const { t } = useTranslation();
  const { token = '' } = useParams();
  const navigate = useNavigate();
  const signOut = useSignOut();
  const me = useQuery(trpc.me.get.queryOptions());
  const [error, setError] = useState<unknown>(null);
  // A token works once: it must not be sent twice, whatever renders again.
  const sent = useRef(false);
  const meId = me.data?.id;

  useEffect(() => {
    if (!meId || sent.current) return;
    sent.current = true;
    client.invitations.accept
      .mutate({ token })
      .then(async (workspace) => {
        await queryClient.invalidateQueries({ queryKey: trpc.workspaces.pathKey() });
        await navigate(`/w/${workspace.id}`, { replace: true });
      })
      .catch(setError);
  }, [meId, token, navigate]);

  const path = `/invite/${encodeURIComponent(token)}`;
  if (reasonOf(me.error) === 'UNAUTHENTICATED' || reasonOf(error) === 'UNAUTHENTICATED') {
    return <Navigate to={signInPath(path, false)} replace />;
  }
  const other = async () => {
    await signOut();
    await navigate(signInPath(path, false), { replace: true });
  };
  const failed = error ?? me.error;
  const retry = () => {
    setError(null);
    sent.current = false;
    void me.refetch();
  };
  const mayPass = failed !== null && ['STORE_UNAVAILABLE', 'INTERNAL', null].includes(reasonOf(failed));
  return (
    <AuthCard>
      <PageHeading title={t('invite.title')}>{t('invite.title')}</PageHeading>
      {failed ? (
        <>
          <ErrorState trouble={troubleOf(failed)} onRetry={mayPass ? retry : undefined} />
          {me.data ? <Text c="dimmed">{t('invite.signedInAs', { email: me.data.email })}</Text> : null}
          <Group>
            <Button component={Link} to="/" variant="default">
              {t('invite.home')}
            </Button>
            {me.data ? (
              <Button variant="subtle" onClick={() => void other()}>
                {t('invite.other')}
              </Button>
            ) : null}
          </Group>
        </>
      ) : (
        <>
          <Text role="status">{t('invite.accepting')}</Text>
          <Skeletons count={1} height={3} />
        </>
      )}
    </AuthCard>
  );
}
