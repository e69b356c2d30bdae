import { AsyncLocalStorage } from 'node:async_hooks';
import { unzipSync } from 'node:zlib';
import { Agent, type Dispatcher } from 'undici';
import type { ResponseFacts } from './errors.ts';

/** What goes into one HTTP exchange and what is seen of it, beside what nano lets through. */
export interface Exchange {
  /** Bearer token to send, when the server is entered with IAM. */
  token?: string;
  /** Set when the answer has arrived whole. */
  response?: ResponseFacts;
  /** Set when it has not: refused, reset, cut off, aborted. */
  failure?: Error;
  /** Ends the exchange now, or as soon as it has a connection. */
  abort(reason: Error): void;
  /** Why it was aborted. */
  aborted?: Error;
}

const current = new AsyncLocalStorage<Exchange>();

/** Makes an exchange and runs `fn`, whose one request through our dispatcher is seen in it. */
export function inExchange<T>(exchange: Exchange, fn: () => Promise<T>): Promise<T> {
  return current.run(exchange, fn);
}

export function newExchange(): Exchange {
  const exchange: Exchange = {
    abort(reason) {
      exchange.aborted = reason;
    },
  };
  return exchange;
}

/**
 * Our own undici agent under nano's fetch. It hands a response on only when it has arrived whole, which turns a
 * connection that breaks half-way into an error of the fetch itself; nano 11 swallows it otherwise (JSON) or never
 * settles (everything else). It also keeps status and headers, which nano's errors lose.
 *
 * @param connections hard maximum per origin; the gate in front is what limits.
 */
export function openDispatcher(connections: number): Dispatcher {
  const agent = new Agent({
    connections,
    pipelining: 1,
    // Below the 5 s after which Node's server closes an idle connection, so that we close it first. A server that
    // announces `Keep-Alive: timeout=` is believed, up to a minute.
    keepAliveTimeout: 4000,
    keepAliveMaxTimeout: 60_000,
    connect: { timeout: 5000 },
  });
  return agent.compose((dispatch) => (options, handler) => {
    const exchange = current.getStore();
    return dispatch(
      withHeaders(options, exchange),
      exchange ? new WholeResponse(handler, exchange) : handler,
    );
  });
}

function withHeaders(
  options: Dispatcher.DispatchOptions,
  exchange: Exchange | undefined,
): Dispatcher.DispatchOptions {
  const headers: Record<string, unknown> = { ...(options.headers as Record<string, unknown> | undefined) };
  const remove = (name: string) => {
    for (const key of Object.keys(headers)) if (key.toLowerCase() === name) delete headers[key];
  };
  // Compression is worth its CPU over the internet, not next door.
  if (!String(options.origin).startsWith('https:')) remove('accept-encoding');
  if (exchange?.token) {
    remove('authorization');
    headers.authorization = `Bearer ${exchange.token}`;
  }
  return { ...options, headers: headers as Record<string, string> };
}

type Handler = Dispatcher.DispatchHandler;
type Controller = Dispatcher.DispatchController;
type ResponseHeaders = Record<string, string | string[] | undefined>;

class WholeResponse implements Handler {
  readonly #inner: Handler;
  readonly #exchange: Exchange;
  #start: { statusCode: number; headers: ResponseHeaders; statusMessage?: string } | undefined;
  readonly #chunks: Buffer[] = [];

  constructor(inner: Handler, exchange: Exchange) {
    this.#inner = inner;
    this.#exchange = exchange;
  }

  onRequestStart(controller: Controller, context: unknown): void {
    const exchange = this.#exchange;
    exchange.abort = (reason) => {
      exchange.aborted = reason;
      controller.abort(reason);
    };
    this.#inner.onRequestStart?.(controller, context);
    if (exchange.aborted) controller.abort(exchange.aborted);
  }

  onResponseStart(
    _controller: Controller,
    statusCode: number,
    headers: ResponseHeaders,
    statusMessage?: string,
  ): void {
    // 1xx is news about the request, not its answer.
    if (statusCode < 200) return;
    this.#start = { statusCode, headers, ...(statusMessage === undefined ? {} : { statusMessage }) };
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    this.#chunks.push(Buffer.from(chunk));
  }

  onResponseEnd(controller: Controller, trailers: ResponseHeaders): void {
    const start = this.#start;
    if (!start) {
      this.onResponseError(controller, new Error('The answer has no beginning'));
      return;
    }
    let body = Buffer.concat(this.#chunks);
    const headers = { ...start.headers };
    if (body.length > 0 && /^(x-)?(gzip|deflate)$/i.test(String(headers['content-encoding'] ?? ''))) {
      try {
        body = unzipSync(body);
      } catch (error) {
        this.onResponseError(controller, error as Error);
        return;
      }
      delete headers['content-encoding'];
      delete headers['content-length'];
    }
    this.#exchange.response = { statusCode: start.statusCode, headers: flat(headers) };
    this.#inner.onResponseStart?.(controller, start.statusCode, headers, start.statusMessage);
    if (body.length > 0) this.#inner.onResponseData?.(controller, body);
    this.#inner.onResponseEnd?.(controller, trailers);
  }

  onResponseError(controller: Controller, error: Error): void {
    this.#exchange.failure = error;
    this.#inner.onResponseError?.(controller, error);
  }
}

function flat(headers: ResponseHeaders): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) result[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return result;
}
