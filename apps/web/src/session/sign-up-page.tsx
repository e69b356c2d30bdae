import { Alert, Anchor, Button, PasswordInput, Text, TextInput } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { type AuthProblem, signUp } from '../api/auth.ts';
import { queryClient } from '../api/client.ts';
import { PageHeading } from '../shell/page-heading.tsx';
import { AuthCard } from './auth-card.tsx';
import { safePath } from './return-to.ts';

const LEAST_PASSWORD = 10;
const LONGEST_NAME = 100;

export function SignUpPage() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [query] = useSearchParams();
  const next = safePath(query.get('next'));
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [problem, setProblem] = useState<AuthProblem | 'needName' | null>(null);
  const [busy, setBusy] = useState(false);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === '') return setProblem('needName');
    if (password.length < LEAST_PASSWORD) return setProblem('weak');
    setBusy(true);
    const refused = await signUp(name.trim(), email.trim(), password);
    setBusy(false);
    setProblem(refused);
    if (refused) return;
    queryClient.clear();
    await navigate(next, { replace: true });
  };

  return (
    <AuthCard>
      <PageHeading title={t('auth.signUp')}>{t('auth.signUp')}</PageHeading>
      {next.startsWith('/invite/') ? <Alert role="status">{t('auth.inviteWaiting')}</Alert> : null}
      {problem ? (
        <Alert color="red" role="alert">
          {t(`auth.${problem}`)}
        </Alert>
      ) : null}
      <form onSubmit={(event) => void submit(event)}>
        <TextInput
          label={t('auth.name')}
          description={t('auth.nameHint')}
          autoComplete="name"
          maxLength={LONGEST_NAME}
          required
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <TextInput
          mt="md"
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
          description={t('auth.passwordHint')}
          autoComplete="new-password"
          required
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <Button mt="lg" type="submit" fullWidth loading={busy}>
          {t('auth.signUp')}
        </Button>
      </form>
      <Text>
        {t('auth.haveAccount')}{' '}
        <Anchor
          component={Link}
          to={next === '/' ? '/sign-in' : `/sign-in?${new URLSearchParams({ next })}`}
          underline="always"
        >
          {t('auth.signIn')}
        </Anchor>
      </Text>
    </AuthCard>
  );
}
