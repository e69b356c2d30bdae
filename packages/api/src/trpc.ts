import { setTimeout as pause } from 'node:timers/promises';
import type { ErrorData, Reason } from '@sparkroom/contract';
import { type Actor, type Core, DomainError } from '@sparkroom/core';
import { StoreUnavailableError } from '@sparkroom/pools';
import { initTRPC, TRPCError } from '@trpc/server';
import { z } from 'zod';

/** What the host gives each request. */
export interface ApiContext {
  core: Core;
  /**
   * The actor of a valid session, else null. Asked inside the procedure, so that a database that is away answers like
   * it does for any other query; the calls of a batch share one answer.
   */
  authenticate(): Promise<Actor | null>;
  /** Whether the session of this request is valid now: asked again and again while a live feed is open. */
  stillSignedIn(): Promise<boolean>;
  requestId: string;
  /** Aborted when the host shuts down: live feeds end, and the browser resumes at another process. */
  ending?: AbortSignal;
  /** Longest life of a live feed in milliseconds, give or take a fifth. Default 30 minutes. */
  liveMs?: number;
  /** Told of every error that is not a refusal, with its cause, for the log. */
  report(error: unknown, path: string | undefined): void;
}

const codeOf: Record<Reason, TRPCError['code']> = {
  INVALID_INPUT: 'BAD_REQUEST',
  INVALID_UTF8: 'BAD_REQUEST',
  INVALID_JSON: 'BAD_REQUEST',
  INVALID_CURSOR: 'BAD_REQUEST',
  BODY_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  BATCH_TOO_LARGE: 'BAD_REQUEST',
  UNAUTHENTICATED: 'UNAUTHORIZED',
  FORBIDDEN_ORIGIN: 'FORBIDDEN',
  ROLE_REQUIRED: 'FORBIDDEN',
  NOT_FOUND: 'NOT_FOUND',
  VERSION_CONFLICT: 'CONFLICT',
  ALREADY_MEMBER: 'CONFLICT',
  USER_NOT_REGISTERED: 'NOT_FOUND',
  INVITATION_EXISTS: 'CONFLICT',
  INVITATION_INVALID: 'NOT_FOUND',
  INVITATION_OTHER_PERSON: 'FORBIDDEN',
  LAST_OWNER: 'CONFLICT',
  STATUS_NOT_REACHABLE: 'CONFLICT',
  NOT_RATEABLE: 'CONFLICT',
  CLIENT_ARCHIVED: 'CONFLICT',
  CLIENT_IN_USE: 'CONFLICT',
  WORKSPACE_ARCHIVED: 'CONFLICT',
  RATE_LIMITED: 'TOO_MANY_REQUESTS',
  STORE_UNAVAILABLE: 'SERVICE_UNAVAILABLE',
  INTERNAL: 'INTERNAL_SERVER_ERROR',
};

const storeNames = {
  mysql: 'The database (MySQL)',
  cloudant: 'The document store (Cloudant)',
  redis: 'The cache (Redis)',
  nats: 'The event stream (NATS)',
};

const signedOut = () =>
  new DomainError('UNAUTHENTICATED', 'You are not signed in, or your session has ended. Sign in again.');

/**
 * Looks again and again whether the listener of a live feed may still hear it: is signed in, and passes `check`.
 * A store that is away says nothing about that; the next look will.
 * @param everyMs milliseconds between two looks
 * @returns `refused`, aborted with the refusal as its reason
 */
export function watchRights(
  ctx: ApiContext,
  check: () => Promise<unknown>,
  everyMs: number,
  ended: AbortSignal,
): AbortSignal {
  const refused = new AbortController();
  void (async () => {
    while (!ended.aborted && !refused.signal.aborted) {
      await pause(everyMs, undefined, { signal: ended, ref: false });
      try {
        if (!(await ctx.stillSignedIn())) throw signedOut();
        await check();
      } catch (error) {
        if (error instanceof DomainError) refused.abort(error);
        else ctx.report(error, 'activity.live');
      }
    }
  })().catch(() => {
    // The feed has ended by itself.
  });
  return refused.signal;
}

const whatNow = {
  nothing: 'Nothing was lost; try again in a moment.',
  unknown: 'Your change may or may not have been stored: look before you repeat it.',
  stored: 'Your change was stored, only the answer is missing: do not repeat it.',
};

/** What people read when a store is away. */
export const awayMessage = ({ store, outcome }: StoreUnavailableError): string =>
  `${storeNames[store]} does not answer. ${whatNow[outcome ?? 'nothing']}`;

/** Turns whatever a procedure threw into the public shape: a message for people and `ErrorData`. */
function publicError(error: TRPCError): { message: string; data: ErrorData } {
  const cause = error.cause;
  if (cause instanceof DomainError) {
    return { message: cause.message, data: { reason: cause.reason, ...cause.details } };
  }
  if (cause instanceof StoreUnavailableError) {
    return {
      message: awayMessage(cause),
      data: {
        reason: 'STORE_UNAVAILABLE',
        store: cause.store,
        ...(cause.outcome ? { outcome: cause.outcome } : {}),
      },
    };
  }
  if (cause instanceof z.ZodError) {
    const fields: Record<string, string> = {};
    for (const issue of cause.issues) fields[issue.path.join('.')] ??= issue.message;
    const first = cause.issues[0];
    const where = first?.path.length ? `${first.path.join('.')}: ` : '';
    return {
      message: `${where}${first?.message ?? 'The input is not valid.'}`,
      data: { reason: 'INVALID_INPUT', fields },
    };
  }
  if (error.code === 'PARSE_ERROR' || cause instanceof SyntaxError) {
    return { message: 'The request is not valid JSON.', data: { reason: 'INVALID_JSON' } };
  }
  switch (error.code) {
    case 'NOT_FOUND':
      return { message: 'There is no such procedure.', data: { reason: 'NOT_FOUND' } };
    case 'METHOD_NOT_SUPPORTED':
      return {
        message: 'Queries are asked with GET, mutations with POST.',
        data: { reason: 'INVALID_INPUT' },
      };
    case 'PAYLOAD_TOO_LARGE':
      return { message: 'The request is too large.', data: { reason: 'BODY_TOO_LARGE' } };
    case 'BAD_REQUEST':
    case 'UNSUPPORTED_MEDIA_TYPE':
      // Nothing else tells this refusal from the library's others.
      if (error.message === 'Batch call exceeds maximum size') {
        return {
          message: 'Too many calls in one request. Split the batch.',
          data: { reason: 'BATCH_TOO_LARGE' },
        };
      }
      return { message: 'The request cannot be read.', data: { reason: 'INVALID_INPUT' } };
    default:
      return {
        message: 'Something went wrong on our side. Nothing was changed by this request that is not shown.',
        data: { reason: 'INTERNAL' },
      };
  }
}

const requestIds = new WeakMap<TRPCError, string>();

/** For the host's `onError`: a request that is refused before it has a context names its id too. */
export function nameRequest(error: TRPCError, requestId: string): void {
  requestIds.set(error, requestId);
}

const t = initTRPC.context<ApiContext>().create({
  isDev: false,
  sse: { ping: { enabled: true, intervalMs: 15_000 }, client: { reconnectAfterInactivityMs: 40_000 } },
  errorFormatter({ shape, error, ctx }) {
    const { message, data } = publicError(error);
    return {
      ...shape,
      message,
      data: {
        code: shape.data.code,
        httpStatus: shape.data.httpStatus,
        path: shape.data.path,
        requestId: ctx?.requestId ?? requestIds.get(error),
        ...data,
      } satisfies ErrorData & Record<string, unknown>,
    };
  },
});

/** Gives a refusal its tRPC code and reports what is no refusal. */
function coded(thrown: unknown, ctx: ApiContext, path: string): unknown {
  const cause = thrown instanceof TRPCError ? thrown.cause : thrown;
  if (cause instanceof DomainError) {
    return new TRPCError({ code: codeOf[cause.reason], message: cause.message, cause });
  }
  if (cause instanceof StoreUnavailableError) {
    ctx.report(cause, path);
    return new TRPCError({ code: 'SERVICE_UNAVAILABLE', message: cause.message, cause });
  }
  if (!(thrown instanceof TRPCError) || thrown.code === 'INTERNAL_SERVER_ERROR') {
    if (!(cause instanceof DOMException && cause.name === 'AbortError')) ctx.report(cause ?? thrown, path);
  }
  return thrown;
}

async function* codedWhile<T>(items: AsyncIterable<T>, ctx: ApiContext, path: string): AsyncGenerator<T> {
  try {
    yield* items;
  } catch (error) {
    throw coded(error, ctx, path);
  }
}

const isIterable = (data: unknown): data is AsyncIterable<unknown> =>
  typeof data === 'object' && data !== null && Symbol.asyncIterator in data;

const errors = t.middleware(async ({ next, ctx, path }) => {
  const result = await next();
  if (!result.ok) throw coded(result.error, ctx, path);
  // A feed fails while it is read, long after this returns.
  return isIterable(result.data) ? { ...result, data: codedWhile(result.data, ctx, path) } : result;
});

/** Deny by default: every procedure needs a session; there is no public one. */
const signedIn = t.middleware(async ({ next, ctx }) => {
  const actor = await ctx.authenticate();
  if (!actor) throw signedOut();
  return next({ ctx: { ...ctx, actor } });
});

export const router = t.router;
/** A procedure for a signed-in person. */
export const procedure = t.procedure.use(errors).use(signedIn);
