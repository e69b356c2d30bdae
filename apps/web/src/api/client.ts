import { createSparkroomClient, reasonOf } from '@sparkroom/client';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { createTRPCOptionsProxy } from '@trpc/tanstack-react-query';
import { sessionEnded } from '../session/session-end.ts';

const noticeSessionEnd = (error: unknown) => {
  if (reasonOf(error) === 'UNAUTHENTICATED') sessionEnded();
};

/** Refusals do not change by asking again; a store or a network that is away may be back in a moment. */
const mayPass = (error: unknown) => {
  const reason = reasonOf(error);
  return reason === null || reason === 'STORE_UNAVAILABLE';
};

export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeSessionEnd }),
  mutationCache: new MutationCache({ onError: noticeSessionEnd }),
  defaultOptions: {
    queries: {
      // Live updates say what has changed; nothing is refetched, and so nothing moves, by itself.
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      retry: (failures, error) => failures < 1 && mayPass(error),
      retryDelay: 600,
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

/** Same origin, signed in by cookie. */
export const client = createSparkroomClient({ url: '', timeoutMs: 20_000 });

/** Query and mutation options of every procedure: `useQuery(trpc.me.get.queryOptions())`. */
export const trpc = createTRPCOptionsProxy({ client, queryClient });
