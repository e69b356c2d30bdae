import { Container } from '@mantine/core';
import { reasonOf } from '@sparkroom/client';
import { ErrorState } from '@sparkroom/ui';
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Navigate, Outlet, useLocation, useNavigate } from 'react-router';
import { trpc } from '../api/client.ts';
import { troubleOf } from '../api/trouble.ts';
import { LiveProvider } from '../live/live-provider.tsx';
import { Shell } from '../shell/shell.tsx';
import { Starting } from '../shell/starting.tsx';
import { currentLocale, storedLocale, switchLocale } from './locale.ts';
import { chooseLocale, MeProvider } from './me.tsx';
import { rememberSignedIn, signInPath, wasSignedIn } from './return-to.ts';
import { onSessionEnd } from './session-end.ts';

/** Frame of everything that needs a session: without one it leads to the sign-in page and back again. */
export function SignedIn() {
  const me = useQuery(trpc.me.get.queryOptions(undefined, { staleTime: Number.POSITIVE_INFINITY }));
  const location = useLocation();
  const navigate = useNavigate();
  const here = location.pathname + location.search;
  const person = me.data;

  useEffect(() => {
    onSessionEnd(() => {
      void navigate(signInPath(here, wasSignedIn()), { replace: true });
    });
    return () => onSessionEnd(null);
  }, [here, navigate]);

  useEffect(() => {
    if (!person) return;
    rememberSignedIn();
    // A choice made in this browser wins; else the account's; else the browser's language becomes the account's.
    if (person.locale && !storedLocale()) void switchLocale(person.locale);
    else if (person.locale !== currentLocale()) void chooseLocale(currentLocale());
  }, [person]);

  if (person) {
    return (
      <MeProvider value={person}>
        <LiveProvider meId={person.id}>
          <Shell>
            <Outlet />
          </Shell>
        </LiveProvider>
      </MeProvider>
    );
  }
  if (!me.error) return <Starting />;
  if (reasonOf(me.error) === 'UNAUTHENTICATED') {
    return <Navigate to={signInPath(here, wasSignedIn())} replace />;
  }
  return (
    <Container component="main" py="xl" size="sm">
      <ErrorState trouble={troubleOf(me.error)} onRetry={() => void me.refetch()} />
    </Container>
  );
}
