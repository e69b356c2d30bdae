/** The stores whose absence the site survives and names to its callers. */
export type StoreName = 'mysql' | 'cloudant' | 'redis' | 'nats';

/** What became of a change when a store fell silent: `unknown` during its commit, `stored` when only the answer failed. */
export type Outcome = 'unknown' | 'stored';

/**
 * A store cannot be reached, or did not answer in time. Thrown by every store package; the API answers 503 with
 * the store's name. The cause is for logs only and never leaves the server.
 */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
  readonly store: StoreName;
  /** Milliseconds after which the store itself asked to be tried again, when it said so (Retry-After). */
  readonly retryAfterMs: number | undefined;
  /** Set where a change may have taken effect: then nobody should simply try again. */
  readonly outcome: Outcome | undefined;

  constructor(
    store: StoreName,
    options: { cause?: unknown; detail?: string; retryAfterMs?: number; outcome?: Outcome } = {},
  ) {
    super(`${store} is not available${options.detail ? `: ${options.detail}` : ''}`, {
      cause: options.cause,
    });
    this.store = store;
    this.retryAfterMs = options.retryAfterMs;
    this.outcome = options.outcome;
  }
}
