import type { AppRouter } from '@sparkroom/api';
import {
  createTRPCClient,
  httpBatchLink,
  httpSubscriptionLink,
  splitLink,
  type TRPCClient,
} from '@trpc/client';

export type SparkroomClient = TRPCClient<AppRouter>;

/** Any EventSource with the browser's shape; Node programs bring one (package `eventsource`) for subscriptions. */
export type EventSourceConstructor = typeof globalThis extends { EventSource: infer T } ? T : never;

export interface SparkroomClientOptions {
  /** Origin of the server, `http://127.0.0.1:3000`; empty in a page that the server itself delivers. */
  url: string;
  /** Bearer token (`set-auth-token` header of the sign-in answer). Left out where cookies sign in. */
  token?: string;
  /** Used instead of the global `fetch`. */
  fetch?: typeof globalThis.fetch;
  /** Deadline of one request in milliseconds (default 30,000); subscriptions have none. */
  timeoutMs?: number;
  /** Used instead of the global `EventSource`. Subscriptions fail where there is neither. */
  eventSource?: EventSourceConstructor;
}

/** Calls in one HTTP request at most; the server refuses more (BATCH_TOO_LARGE). */
const MAX_BATCH = 10;
/** Longest query URL; longer inputs are split over several requests. */
const MAX_URL = 4000;

/**
 * Typed client of every Sparkroom procedure: `client.ideas.list.query({ workspaceId })`.
 * Calls made in the same tick travel together. Errors are `TRPCClientError`; {@link reasonOf} narrows them.
 * @param options where the server is and who asks
 */
export function createSparkroomClient(options: SparkroomClientOptions): SparkroomClient {
  const url = `${options.url.replace(/\/+$/, '')}/trpc`;
  const timeoutMs = options.timeoutMs ?? 30_000;
  const send = options.fetch ?? globalThis.fetch;
  const authorization = options.token ? { authorization: `Bearer ${options.token}` } : {};

  return createTRPCClient<AppRouter>({
    links: [
      splitLink({
        condition: (op) => op.type === 'subscription',
        true: httpSubscriptionLink({
          url,
          ...(options.eventSource ? { EventSource: options.eventSource } : {}),
        }),
        false: httpBatchLink({
          url,
          maxItems: MAX_BATCH,
          maxURLLength: MAX_URL,
          headers: authorization,
          fetch: (input, init) => {
            const deadline = AbortSignal.timeout(timeoutMs);
            const signal = init?.signal ? AbortSignal.any([init.signal, deadline]) : deadline;
            return send(input as string | URL, { ...(init as RequestInit), signal });
          },
        }),
      }),
    ],
  });
}
