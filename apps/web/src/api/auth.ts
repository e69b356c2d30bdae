import { createAuthClient } from 'better-auth/react';

const auth = createAuthClient({ fetchOptions: { timeout: 20_000 } });

/** Why signing in or up was refused; each has a text `auth.<problem>`. */
export type AuthProblem = 'wrong' | 'taken' | 'weak' | 'badEmail' | 'tooMany' | 'away' | 'failed';

function problemOf(error: { code?: string | undefined; status: number }): AuthProblem {
  const code = error.code ?? '';
  if (error.status === 429) return 'tooMany';
  if (error.status === 503) return 'away';
  if (code.startsWith('USER_ALREADY_EXISTS')) return 'taken';
  if (code.startsWith('PASSWORD_TOO')) return 'weak';
  if (code === 'INVALID_EMAIL') return 'badEmail';
  if (error.status === 401 || code === 'INVALID_EMAIL_OR_PASSWORD') return 'wrong';
  return 'failed';
}

interface Outcome {
  error: { code?: string | undefined; status: number } | null;
}

async function outcome(call: Promise<Outcome>): Promise<AuthProblem | null> {
  try {
    const { error } = await call;
    return error ? problemOf(error) : null;
  } catch {
    return 'failed';
  }
}

/** Signs in; the session is a cookie that scripts cannot read. Answers null, or what was wrong. */
export const signIn = (email: string, password: string): Promise<AuthProblem | null> =>
  outcome(auth.signIn.email({ email, password }));

/** Creates an account and signs in. Answers null, or what was wrong. */
export const signUp = (name: string, email: string, password: string): Promise<AuthProblem | null> =>
  outcome(auth.signUp.email({ name, email, password }));

/** Ends the session on the server. Answers null, or what was wrong. */
export const signOut = (): Promise<AuthProblem | null> => outcome(auth.signOut());
