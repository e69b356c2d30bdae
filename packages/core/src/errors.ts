import type { ErrorData, Reason } from '@sparkroom/contract';

/**
 * A refusal the caller can act on. `message` is for people: what was wrong, what is safe, what to do; it never holds
 * SQL, ids the caller did not send, or secrets.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly reason: Reason;
  readonly details: Omit<ErrorData, 'reason'>;

  constructor(reason: Reason, message: string, details: Omit<ErrorData, 'reason'> = {}) {
    super(message);
    this.reason = reason;
    this.details = details;
  }
}

/** The one answer for what is missing and for what the actor may not know of. */
export const notFound = (what: string): DomainError =>
  new DomainError(
    'NOT_FOUND',
    `This ${what} does not exist, or you are not a member of ${what === 'workspace' ? 'it' : 'its workspace'}.`,
  );

/** The actor sees the thing but their role does not allow this. */
export const roleRequired = (who: string): DomainError =>
  new DomainError('ROLE_REQUIRED', `Only ${who} can do this. Ask one of them.`);

export const versionConflict = (currentVersion: number): DomainError =>
  new DomainError(
    'VERSION_CONFLICT',
    `Somebody changed this in the meantime (version ${currentVersion} is stored now). Nothing was overwritten: read it again and repeat your change.`,
    { currentVersion },
  );
