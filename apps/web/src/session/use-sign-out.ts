import { useNavigate } from 'react-router';
import { signOut } from '../api/auth.ts';
import { queryClient } from '../api/client.ts';
import { notifyDone, notifyError } from '../shell/notify.ts';
import { i18n } from './locale.ts';
import { forgetSignedIn } from './return-to.ts';
import { forgetKept } from './use-kept.ts';

/** Ends the session and forgets everything of the person in this tab. */
export function useSignOut(): () => Promise<void> {
  const navigate = useNavigate();
  return async () => {
    if (await signOut()) return notifyError(null);
    forgetSignedIn();
    forgetKept();
    await navigate('/sign-in', { replace: true });
    queryClient.clear();
    notifyDone(i18n.t('auth.signedOut'));
  };
}
