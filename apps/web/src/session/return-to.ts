const FLAG = 'sparkroom.signedIn';

/** Remembers that somebody is signed in here, so that a later refusal can be called an ended session. */
export const rememberSignedIn = (): void => localStorage.setItem(FLAG, '1');
export const forgetSignedIn = (): void => localStorage.removeItem(FLAG);
export const wasSignedIn = (): boolean => localStorage.getItem(FLAG) === '1';

/**
 * A path of this site to go to after signing in; anything else (another origin, `//host`, `javascript:`) becomes `/`.
 * @param value what the address bar says
 */
export function safePath(value: string | null): string {
  if (!value?.startsWith('/') || value.startsWith('//') || value.includes('\\')) return '/';
  const url = new URL(value, 'http://sparkroom.invalid');
  if (url.host !== 'sparkroom.invalid') return '/';
  return /^\/sign-(in|up)\b/.test(url.pathname) ? '/' : url.pathname + url.search + url.hash;
}

/** Address of the sign-in page that returns to `path`. */
export function signInPath(path: string, expired: boolean): string {
  const query = new URLSearchParams();
  const next = safePath(path);
  if (next !== '/') query.set('next', next);
  if (expired) query.set('expired', '1');
  return query.size > 0 ? `/sign-in?${query}` : '/sign-in';
}
