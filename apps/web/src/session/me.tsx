import type { Locale, Me } from '@sparkroom/contract';
import { createContext, useContext } from 'react';
import { client, queryClient, trpc } from '../api/client.ts';
import { switchLocale } from './locale.ts';

const MeContext = createContext<Me | null>(null);
export const MeProvider = MeContext.Provider;

/** The person signed in. Only below the signed-in frame. */
export function useMe(): Me {
  const me = useContext(MeContext);
  if (!me) throw new Error('useMe needs the signed-in frame above it');
  return me;
}

/** Changes the language here at once and remembers it with the account; the page does not wait for that. */
export async function chooseLocale(locale: Locale): Promise<void> {
  await switchLocale(locale);
  try {
    queryClient.setQueryData(trpc.me.get.queryKey(), await client.me.setLocale.mutate({ locale }));
  } catch {
    // The language holds in this browser; the account learns it at the next change.
  }
}
