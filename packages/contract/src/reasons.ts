import { z } from 'zod';

/**
 * Why a request was refused: the closed list behind `data.reason` of every error.
 * Screens translate by reason; nothing depends on the English message.
 */
export const Reason = z.enum([
  'INVALID_INPUT',
  'INVALID_UTF8',
  'INVALID_JSON',
  'INVALID_CURSOR',
  'BODY_TOO_LARGE',
  'BATCH_TOO_LARGE',
  'UNAUTHENTICATED',
  'FORBIDDEN_ORIGIN',
  'ROLE_REQUIRED',
  'NOT_FOUND',
  'VERSION_CONFLICT',
  'ALREADY_MEMBER',
  'USER_NOT_REGISTERED',
  'INVITATION_EXISTS',
  'INVITATION_INVALID',
  'INVITATION_OTHER_PERSON',
  'LAST_OWNER',
  'STATUS_NOT_REACHABLE',
  'NOT_RATEABLE',
  'CLIENT_ARCHIVED',
  'CLIENT_IN_USE',
  'WORKSPACE_ARCHIVED',
  'RATE_LIMITED',
  'STORE_UNAVAILABLE',
  'INTERNAL',
]);
export type Reason = z.infer<typeof Reason>;

/** The four stores, as named in errors, readiness and metrics. */
export const Store = z.enum(['mysql', 'cloudant', 'redis', 'nats']);
export type Store = z.infer<typeof Store>;

/** What `data` of an error carries beside tRPC's own `code` and `httpStatus`. */
export interface ErrorData {
  reason: Reason;
  /** Field path to message, for INVALID_INPUT. */
  fields?: Record<string, string>;
  /** The version now stored, for VERSION_CONFLICT. */
  currentVersion?: number;
  /** Which store did not answer, for STORE_UNAVAILABLE. */
  store?: Store;
  /**
   * For STORE_UNAVAILABLE, where a change may have taken effect: `unknown` when the store fell silent during its commit,
   * `stored` when it was made and only the answer could not be read. Without it nothing was changed.
   */
  outcome?: 'unknown' | 'stored';
  /** Statuses that can be reached from the present one, for STATUS_NOT_REACHABLE. */
  reachable?: string[];
  requestId?: string;
}
