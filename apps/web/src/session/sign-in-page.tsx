import { Alert, Anchor, Button, PasswordInput, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { type AuthProblem, signIn } from '../api/auth.ts';
import { queryClient } from '../api/client.ts';
import { PageHeading } from '../shell/page-heading.tsx';
import { AuthCard } from './auth-card.tsx';
import { safePath } from './return-to.ts';

export function SignInPage() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [query] = useSearchParams();
  const next = safePath(query.get('next'));
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [problem, setProblem] = useState<AuthProblem | null>(null);
  const [busy, setBusy] = useState(false);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    const refused = await signIn(email.trim(), password);
    setBusy(false);
    setProblem(refused);
    if (refused) return;
    queryClient.clear();
    await navigate(next, { replace: true });
  };

  return (
    <AuthCard>
      <PageHeading title={t('auth.signIn')}>{t('auth.signIn')}</PageHeading>
      {query.has('expired') ? <Alert role="status">{t('auth.expired')}</Alert> : null}
      {next.startsWith('/invite/') ? <Alert role="status">{t('auth.inviteWaiting')}</Alert> : null}
      {problem ? (
        <Alert color="red" role="alert">
          {t(`auth.${problem}`)}
        </Alert>
      ) : null}
      <form onSubmit={(event) => void submit(event)}>
        <TextInput
          label={t('auth.email')}
          type="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => setEmail(event.currentTarget.value)}
        />
        <PasswordInput
          mt="md"
          label={t('auth.password')}
          autoComplete="current-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <Button mt="lg" type="submit" fullWidth loading={busy}>
          {t('auth.signIn')}
        </Button>
      </form>
      <Text>
        {t('auth.noAccount')}{' '}
        <Anchor
          component={Link}
          to={next === '/' ? '/sign-up' : `/sign-up?${new URLSearchParams({ next })}`}
          underline="always"
        >
          {t('auth.signUp')}
        </Anchor>
      </Text>
    </AuthCard>
  );
}
