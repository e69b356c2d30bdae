import { setTimeout as pause } from 'node:timers/promises';
import { deadlineIn, Gate, GateRefusedError, recordTiming, StoreUnavailableError } from '@sparkroom/pools';
import nano, { type RequestOptions, type ServerScope } from 'nano';
import { type Exchange, inExchange, newExchange, openDispatcher } from './dispatcher.ts';
import { CloudantBodyError, CloudantError, type ResponseFacts } from './errors.ts';
import { IamTokens } from './iam.ts';
import { isUnavailable, jitter, maxRetries, parseRetryAfter } from './retry.ts';
import type { CloudantSettings } from './settings.ts';

/**
 * What a request costs the server: `read` one document, `write`, `query` (views, `_find`, `_all_docs`), `slow` (view
 * builds and other work that takes seconds). Slow requests have their own gate, so they cannot hold up the others.
 */
export type RequestClass = 'read' | 'write' | 'query' | 'slow';

/** Options of every call that goes to the server. */
export interface CallOptions {
  /** The moment by which the call must have ended, on the clock of `performance.now()`. */
  deadline?: number;
  /** Ends the call when aborted, with the signal's reason. */
  signal?: AbortSignal;
}

export interface RequestCallOptions extends CallOptions {
  /** Whether a write may be sent again when it is not known whether it took effect. */
  idempotent?: boolean;
  /** Whether to repeat at all. */
  retry?: boolean;
}

const defaultSockets = 32;
const slowSockets = 4;
/** The gates cannot be made larger than the connections that undici may open. */
const hardMaxSockets = 512;
const defaultDeadlineMs = 5000;
const maxTimeout = 2 ** 31 - 1;

/** The one way to the server: nano behind gates, with deadlines, retries and errors that tell what happened. */
export class Transport {
  /** In front of everything but slow work. */
  readonly gate: Gate;
  /** In front of slow work. */
  readonly slowGate: Gate;
  readonly deadlineMs: number;
  readonly #nano: ServerScope;
  readonly #dispatcher;
  readonly #iam: IamTokens | undefined;
  #closing: Promise<void> | undefined;

  constructor(settings: CloudantSettings) {
    this.deadlineMs = settings.deadlineMs ?? defaultDeadlineMs;
    const sockets = settings.sockets ?? defaultSockets;
    if (sockets > hardMaxSockets - slowSockets) {
      throw new RangeError(`Cloudant sockets must not be more than ${hardMaxSockets - slowSockets}.`);
    }
    this.gate = new Gate({ name: 'cloudant', size: sockets });
    this.slowGate = new Gate({ name: 'cloudant-slow', size: slowSockets });
    this.#dispatcher = openDispatcher(hardMaxSockets);
    if (settings.iamKey) {
      this.#iam = new IamTokens({
        key: settings.iamKey,
        dispatcher: this.#dispatcher,
        timeoutMs: this.deadlineMs,
        ...(settings.iamUrl ? { url: settings.iamUrl } : {}),
      });
    }
    // nano's types say http.AgentOptions; what it does is hand this to fetch as its dispatcher.
    const options = { url: settings.url, parseUrl: false, agentOptions: this.#dispatcher };
    this.#nano = nano(options as unknown as nano.Configuration);
  }

  /**
   * Sends one request.
   * @param cls what it costs, which gate it goes through, and (all but writes) that it may be repeated.
   * @param fn makes exactly one call on nano and returns its promise as it is.
   * @throws StoreUnavailableError when the server cannot be reached, does not answer in time, answers 429, 502, 503
   * or 504, or answers half; CloudantError when it refuses; the signal's reason when aborted.
   */
  async request<T>(
    cls: RequestClass,
    fn: (server: ServerScope) => Promise<T>,
    options: RequestCallOptions = {},
  ): Promise<T> {
    const deadline = options.deadline ?? deadlineIn(this.deadlineMs);
    const mayRepeat = cls !== 'write' || options.idempotent === true;
    let refreshed = false;
    for (let repetition = 0; ; repetition += 1) {
      let failure: Failure;
      try {
        return await this.#attempt(cls, fn, deadline, options.signal);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        failure = error;
      }
      // A token can be revoked before its time: one more try with a new one.
      if (failure.tokenRefused && !refreshed) {
        refreshed = true;
        repetition -= 1;
        continue;
      }
      const { statusCode } = failure;
      // 429 is sent before anything is done, so even a write may be repeated then.
      const worthIt =
        statusCode === undefined ? mayRepeat : statusCode === 429 || (statusCode >= 500 && mayRepeat);
      if (options.retry === false || !worthIt || repetition >= maxRetries) throw failure.reason;
      const wait = Math.max(failure.retryAfterMs ?? 0, jitter(repetition));
      if (performance.now() + wait >= deadline) throw failure.reason;
      await pause(wait, undefined, options.signal ? { signal: options.signal } : {}).catch(() => {
        throw options.signal?.reason;
      });
    }
  }

  /** `request` for a call in nano's general form. */
  send<T>(cls: RequestClass, call: RequestOptions, options: RequestCallOptions = {}): Promise<T> {
    return this.request<T>(cls, (server) => server.request(call) as Promise<T>, options);
  }

  /** Refuses new requests, lets the running ones end, closes the connections. Calling it again changes nothing. */
  close(): Promise<void> {
    this.#closing ??= Promise.all([this.gate.close(), this.slowGate.close()]).then(() =>
      this.#dispatcher.close(),
    );
    return this.#closing;
  }

  async #attempt<T>(
    cls: RequestClass,
    fn: (server: ServerScope) => Promise<T>,
    deadline: number,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const gate = cls === 'slow' ? this.slowGate : this.gate;
    const came = performance.now();
    let entered = false;
    const enter = () => {
      entered = true;
      recordTiming('cloudant;queue', performance.now() - came);
    };
    try {
      const outcome = await gate.run(
        async () => {
          enter();
          const began = performance.now();
          try {
            return { result: await this.#exchange(fn, deadline, signal) };
          } catch (error) {
            // "There is no such document" is an answer. The gate's errors are about the server's health.
            if (error instanceof Failure && error.isAnswer) return { refused: error };
            throw error;
          } finally {
            recordTiming('cloudant;service', performance.now() - began);
          }
        },
        { deadline, tag: cls, ...(signal ? { signal } : {}) },
      );
      if (outcome.refused) throw outcome.refused;
      return outcome.result as T;
    } catch (error) {
      if (!entered) enter();
      if (error instanceof GateRefusedError) {
        throw new StoreUnavailableError('cloudant', { cause: error, detail: refusals[error.refusal] });
      }
      throw error;
    }
  }

  async #exchange<T>(
    fn: (server: ServerScope) => Promise<T>,
    deadline: number,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    const exchange = newExchange();
    // The caller is let go at the deadline even while undici is still connecting and cannot be interrupted.
    const { promise: interrupted, reject } = Promise.withResolvers<never>();
    const interrupt = (reason: unknown) => {
      exchange.abort(reason instanceof Error ? reason : new Error('aborted'));
      reject(reason);
    };
    const onAbort = () => interrupt(signal?.reason);
    const late = () => interrupt(new StoreUnavailableError('cloudant', { detail: 'no answer in time' }));
    const timer = setTimeout(late, Math.min(Math.max(0, deadline - performance.now()), maxTimeout));
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([this.#answer(fn, exchange), interrupted]);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async #answer<T>(fn: (server: ServerScope) => Promise<T>, exchange: Exchange): Promise<T> {
    if (this.#iam) {
      try {
        exchange.token = await this.#iam.get();
      } catch (error) {
        throw new Failure(
          new StoreUnavailableError('cloudant', { cause: error, detail: 'no IAM token could be had' }),
        );
      }
    }
    let result: T;
    try {
      result = await inExchange(exchange, () => fn(this.#nano));
    } catch (error) {
      throw this.#failure(exchange, error);
    }
    const { response } = exchange;
    if (response && result === '' && isJson(response)) {
      const cause = new CloudantBodyError(response);
      throw new Failure(new StoreUnavailableError('cloudant', { cause, detail: 'an answer was cut off' }));
    }
    return result;
  }

  #failure(exchange: Exchange, error: unknown): Error {
    if (exchange.aborted) return exchange.aborted;
    const { response } = exchange;
    if (!response) {
      const cause = exchange.failure ?? error;
      return new Failure(
        new StoreUnavailableError('cloudant', { cause, detail: 'the connection failed or broke off' }),
      );
    }
    const said = error as { error?: unknown; reason?: unknown };
    const refusal = new CloudantError(
      response,
      typeof said.error === 'string' ? said.error : 'unknown',
      typeof said.reason === 'string' ? said.reason : 'no reason given',
    );
    const { statusCode } = response;
    const retryAfterMs = parseRetryAfter(response.headers['retry-after']);
    const tokenRefused = statusCode === 401 && exchange.token !== undefined;
    if (tokenRefused) this.#iam?.forget(exchange.token ?? '');
    const reason = isUnavailable(statusCode)
      ? new StoreUnavailableError('cloudant', {
          cause: refusal,
          detail: statusCode === 429 ? 'its request limit is reached' : `it answered ${statusCode}`,
          ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        })
      : refusal;
    return new Failure(reason, { statusCode, retryAfterMs, tokenRefused });
  }
}

const refusals = {
  deadline: 'no connection became free in time',
  full: 'too many requests are waiting already',
  closed: 'it is being shut down',
};

/** One attempt that came to nothing: what the caller will be told, and what decides about another attempt. */
class Failure extends Error {
  readonly reason: Error;
  readonly statusCode: number | undefined;
  readonly retryAfterMs: number | undefined;
  readonly tokenRefused: boolean;

  constructor(
    reason: Error,
    facts: { statusCode?: number; retryAfterMs?: number | undefined; tokenRefused?: boolean } = {},
  ) {
    super(reason.message);
    this.reason = reason;
    this.statusCode = facts.statusCode;
    this.retryAfterMs = facts.retryAfterMs;
    this.tokenRefused = facts.tokenRefused ?? false;
  }

  /** Whether the server is well and said no. */
  get isAnswer(): boolean {
    return this.statusCode !== undefined && this.statusCode < 500 && this.statusCode !== 429;
  }
}

function isJson(response: ResponseFacts): boolean {
  return (response.headers['content-type'] ?? '').startsWith('application/json');
}
