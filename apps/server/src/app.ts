import { setTimeout as pause } from 'node:timers/promises';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import { type ApiContext, appRouter, awayMessage, nameRequest } from '@sparkroom/api';
import type { Reason, Store } from '@sparkroom/contract';
import { type Actor, newId } from '@sparkroom/core';
import { GateRefusedError, StoreUnavailableError, Timings, withTimings } from '@sparkroom/pools';
import { fastifyRequestHandler } from '@trpc/server/adapters/fastify';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import type { Logger } from 'pino';
import { signInAttempts } from './attempts.ts';
import { ADDRESS_HEADER, type Auth, allowedOrigins, authPaths, createAuth } from './auth.ts';
import { FairQueue } from './fair-queue.ts';
import { registerHealth } from './health.ts';
import { createMetrics } from './metrics.ts';
import { type SessionReader, sessionReader } from './sessions.ts';
import type { ServerSettings } from './settings.ts';
import type { Stores } from './stores.ts';
import { registerWebApp } from './web-app.ts';

const isProbe = (path: string): boolean => /^\/(healthz|readyz|metrics)$/.test(path);

/** The policy of answers that are not pages. */
const nothingRuns = "default-src 'none';frame-ancestors 'none'";

declare module 'fastify' {
  interface FastifyRequest {
    timings: Timings;
    cpuAtStart: NodeJS.CpuUsage;
  }
}

/** How long a stopping host goes on answering before it closes its port, in milliseconds. */
const DRAIN_GRACE_MS = 300;

export interface App {
  fastify: FastifyInstance;
  auth: Auth;
  /** Lets open requests end (live feeds at once), then closes the port. Not the stores. */
  close(): Promise<void>;
}

/**
 * The HTTP host: thin edges around `appRouter` and the auth library. It listens nowhere yet.
 * @param webFolder where the built web app is; that of this repository when left out
 */
export async function createApp(
  settings: ServerSettings,
  stores: Stores,
  log: Logger,
  webFolder?: string,
): Promise<App> {
  let draining = false;
  const liveFeeds = new AbortController();
  const metrics = createMetrics(stores);
  const auth = createAuth(settings, stores, log);
  const fastify = Fastify({
    loggerInstance: log as FastifyBaseLogger,
    // One line for each request, written by us when it is done.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: settings.bodyLimit,
    trustProxy: settings.trustProxy === false ? false : settings.trustProxy.split(',').map((p) => p.trim()),
    genReqId: (request) => requestIdOf(request.headers['x-request-id']),
    requestTimeout: 30_000,
    keepAliveTimeout: 65_000,
    routerOptions: { maxParamLength: 5000 },
    forceCloseConnections: 'idle',
    // An address that cannot be decoded; it comes here before any hook.
    frameworkErrors(error, request, reply) {
      const { status, reason, message } = hostError(error, settings);
      reply.header('x-request-id', request.id).header('content-security-policy', nothingRuns);
      void sendError(request, reply, status, reason, message);
    },
  });

  await fastify.register(helmet, {
    // The web app's pages bring their own policy with a nonce; everything else renders nothing.
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
    strictTransportSecurity: settings.url.startsWith('https:') ? { maxAge: 31_536_000 } : false,
    crossOriginEmbedderPolicy: false,
    referrerPolicy: { policy: 'same-origin' },
  });
  await fastify.register(rateLimit, {
    max: settings.requestsPerMinute,
    timeWindow: '1 minute',
    allowList: (request) => isProbe(request.url),
    errorResponseBuilder: (_request, context) =>
      Object.assign(new Error(`Too many requests. Try again in ${context.after}.`), { statusCode: 429 }),
  });

  fastify.decorateRequest('timings', null as never);
  fastify.decorateRequest('cpuAtStart', null as never);
  fastify.addHook('onRequest', (request, reply, done) => {
    request.timings = new Timings();
    request.cpuAtStart = process.threadCpuUsage();
    reply.header('x-request-id', request.id);
    reply.header('permissions-policy', 'camera=(), microphone=(), geolocation=()');
    done();
  });
  // Here rather than in onRequest: reading the body leaves the async context that was set before it.
  fastify.addHook('preValidation', (request, _reply, done) => {
    withTimings(() => done(), request.timings);
  });
  fastify.addHook('onSend', (request, reply, _payload, done) => {
    // CPU of this thread while the request was open: all requests' together when there are several.
    const cpu = process.threadCpuUsage(request.cpuAtStart);
    request.timings?.add('cpu', (cpu.user + cpu.system) / 1000);
    if (request.timings) reply.header('server-timing', request.timings.toHeader());
    if (draining) reply.header('connection', 'close');
    done();
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    const name = route === '/trpc/:path' ? `/trpc/${procedureOf(request)}` : route;
    metrics.observe(request.method, name, reply.statusCode, reply.elapsedTime / 1000);
    // Probes ask every few seconds, and "not ready" is an answer of theirs.
    const level = isProbe(route) ? 'debug' : reply.statusCode >= 500 ? 'error' : 'info';
    request.log[level](
      { method: request.method, route: name, status: reply.statusCode, ms: Math.round(reply.elapsedTime) },
      'request',
    );
    done();
  });
  fastify.setErrorHandler((error: Error & { statusCode?: number; code?: string }, request, reply) => {
    const { status, reason, message, store } = hostError(error, settings);
    if (status >= 500) request.log.error({ err: error }, 'request failed');
    void sendError(request, reply, status, reason, message, store);
  });

  readJsonAsText(fastify);
  registerHealth(fastify, stores, () => draining);
  fastify.get('/metrics', async (_request, reply) => {
    reply.type(metrics.contentType);
    return await metrics.text();
  });
  const isForeign = foreignOrigin(settings);
  const sessions = sessionReader(settings, stores.mysql);
  registerAuth(fastify, auth, stores, sessions, isForeign);
  registerTrpc(fastify, settings, stores, sessions, isForeign, liveFeeds.signal);
  await registerWebApp(
    fastify,
    (request, reply) => sendError(request, reply, 404, 'NOT_FOUND', 'There is nothing at this address.'),
    webFolder,
  );

  return {
    fastify,
    auth,
    async close() {
      draining = true;
      liveFeeds.abort();
      // Closing drops connections that seem idle, also those whose first request is on its way. For a moment requests
      // are still answered, each with word that the connection ends.
      await pause(DRAIN_GRACE_MS);
      // Closing drops the connections that are idle now; those whose last request ends later would be kept alive.
      const sweep = setInterval(() => fastify.server.closeIdleConnections(), 50);
      try {
        await fastify.close();
      } finally {
        clearInterval(sweep);
      }
    },
  };
}

/** Ids from outside are taken when they are harmless in logs, events and headers. */
function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[A-Za-z0-9_.:-]{8,64}$/.test(header) ? header : newId();
}

/** First procedure of a call, if there is one of that name: a label must not come from outside. */
function procedureOf(request: FastifyRequest): string {
  const path = String((request.params as { path?: string })?.path ?? '');
  if (path.includes(',')) return 'batch';
  return path in appRouter._def.procedures ? path : 'unknown';
}

/** JSON bodies stay text (the routers parse them), but must be valid UTF-8: no byte is silently replaced. */
function readJsonAsText(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => {
    try {
      done(null, new TextDecoder('utf-8', { fatal: true }).decode(body as Buffer));
    } catch {
      done(Object.assign(new Error('invalid UTF-8'), { statusCode: 400, code: 'INVALID_UTF8' }));
    }
  });
}

function hostError(
  error: Error & { statusCode?: number; code?: string },
  settings: ServerSettings,
): { status: number; reason: Reason; message: string; store?: Store } {
  if (error instanceof StoreUnavailableError) {
    return {
      store: error.store,
      status: 503,
      reason: 'STORE_UNAVAILABLE',
      message: awayMessage(error),
    };
  }
  switch (error.code) {
    case 'INVALID_UTF8':
      return {
        status: 400,
        reason: 'INVALID_UTF8',
        message: 'The request is not valid UTF-8. Send text encoded as UTF-8.',
      };
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return {
        status: 413,
        reason: 'BODY_TOO_LARGE',
        message: `The request is too large: at most ${settings.bodyLimit} bytes are taken. Nothing was changed.`,
      };
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return { status: 415, reason: 'INVALID_INPUT', message: 'Send JSON (content-type: application/json).' };
  }
  if (error.statusCode === 429) return { status: 429, reason: 'RATE_LIMITED', message: error.message };
  // How the file server refuses folders and odd spellings.
  if (error.statusCode === 403 || error.statusCode === 404) {
    return { status: 404, reason: 'NOT_FOUND', message: 'There is nothing at this address.' };
  }
  if (error.statusCode && error.statusCode < 500) {
    return { status: error.statusCode, reason: 'INVALID_INPUT', message: 'The request cannot be read.' };
  }
  return { status: 500, reason: 'INTERNAL', message: 'Something went wrong on our side.' };
}

const trpcCodes: Record<number, [name: string, number: number]> = {
  400: ['BAD_REQUEST', -32600],
  403: ['FORBIDDEN', -32003],
  404: ['NOT_FOUND', -32004],
  413: ['PAYLOAD_TOO_LARGE', -32013],
  415: ['UNSUPPORTED_MEDIA_TYPE', -32015],
  429: ['TOO_MANY_REQUESTS', -32029],
  503: ['SERVICE_UNAVAILABLE', -32603],
};

/** The host's errors have the shape of tRPC's, so that a typed client reads the host's errors like a procedure's. */
function sendError(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  reason: Reason,
  message: string,
  store?: Store,
): FastifyReply {
  const [code, number] =
    trpcCodes[status] ?? (status < 500 ? ['BAD_REQUEST', -32600] : ['INTERNAL_SERVER_ERROR', -32603]);
  if (status === 503) reply.header('retry-after', '1');
  return reply
    .code(status)
    .type('application/json')
    .send(
      JSON.stringify({
        error: {
          message,
          code: number,
          data: { code, httpStatus: status, reason, store, requestId: request.id },
        },
      }),
    );
}

/** Says whether a request comes from a page of another site, with nothing but cookies to show for itself. */
function foreignOrigin(settings: ServerSettings): (request: FastifyRequest) => boolean {
  const origins = new Set(allowedOrigins(settings));
  // A cookie travels with requests that other sites make; an Origin header says where they were made.
  return ({ headers }) =>
    headers.origin !== undefined &&
    !origins.has(headers.origin) &&
    (headers.cookie !== undefined || !headers.authorization);
}

const sendForeign = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
  sendError(
    request,
    reply,
    403,
    'FORBIDDEN_ORIGIN',
    'This page may not use Sparkroom. Open it at its own address.',
  );

function registerAuth(
  fastify: FastifyInstance,
  auth: Auth,
  stores: Stores,
  sessions: SessionReader,
  isForeign: (request: FastifyRequest) => boolean,
): void {
  const attempts = signInAttempts(stores.cache);
  // About thirty hashes a second on two cores: somebody who waits so long is behind hundreds of their own.
  const passwords = new FairQueue({ size: 4, perKey: 300, deadlineMs: 20_000 });
  fastify.route({
    method: ['GET', 'POST'],
    url: '/api/auth/*',
    exposeHeadRoute: false,
    async handler(request, reply) {
      if (isForeign(request)) return sendForeign(request, reply);
      const url = new URL(request.url, auth.options.baseURL);
      // Only the plain spelling of what is open: `/./`, `//` or `%2d` would lead past the count of failed sign-ins.
      if (!authPaths.has(request.url.split('?')[0] ?? '')) {
        return sendError(request, reply, 404, 'NOT_FOUND', 'There is nothing at this address.');
      }
      const path = url.pathname.slice('/api/auth/'.length);
      let response = new Response(null, { status: 500 });
      const ask = async (): Promise<boolean> => {
        const hashes = hashingPaths.has(path);
        response = await (hashes ? passwords.run(request.ip, call) : call());
        if (path === 'sign-in/email') return response.status === 401;
        return path === 'change-password' && response.status === 400 && (await isWrongPassword(response));
      };
      const call = () =>
        auth.handler(
          new Request(url, {
            method: request.method,
            headers: webHeaders(request),
            ...(request.method === 'POST' ? { body: authBody(path, request.body) } : {}),
          }),
        );
      // Guesses are counted by the account they are made at: named in a sign-in, signed in for a change.
      let account: string | undefined;
      if (path === 'sign-in/email') account = emailIn(request.body);
      if (path === 'change-password') account = (await sessions.read(request.headers))?.userId;
      let wait = 0;
      try {
        if (account === undefined) await ask();
        else wait = await attempts.run(account, request.ip, ask);
      } catch (error) {
        if (!(error instanceof GateRefusedError)) throw error;
        reply.header('retry-after', '2');
        return sendError(
          request,
          reply,
          429,
          'RATE_LIMITED',
          'Too many passwords are being checked for your address. Try again in a few seconds.',
        );
      }
      if (wait > 0) {
        reply.header('retry-after', String(wait));
        return sendError(
          request,
          reply,
          429,
          'RATE_LIMITED',
          `Too many failed sign-ins for this account. Try again in ${Math.ceil(wait / 60)} minutes.`,
        );
      }
      if (response.status >= 500) {
        // The library hides its cause; a database that is away is the one that can be told.
        await stores.mysql.ping();
        return sendError(request, reply, 500, 'INTERNAL', 'Something went wrong on our side.');
      }
      reply.code(response.status);
      response.headers.forEach((value, name) => {
        if (name !== 'set-cookie') reply.header(name, value);
      });
      for (const cookie of response.headers.getSetCookie()) reply.header('set-cookie', cookie);
      reply.header('cache-control', 'no-store');
      const body = await response.text();
      if (response.status < 400) return reply.send(body === '' ? null : body);
      return reply.type('application/json').send(authError(request, response.status, body));
    },
  });
}

const authReasons: Record<number, Reason> = {
  401: 'UNAUTHENTICATED',
  403: 'FORBIDDEN_ORIGIN',
  404: 'NOT_FOUND',
  413: 'BODY_TOO_LARGE',
  429: 'RATE_LIMITED',
};

/** The library's own `{code, message}`, which its clients read, with our `data` beside it. */
function authError(request: FastifyRequest, status: number, body: string): string {
  let told: Record<string, unknown> = {};
  try {
    told = JSON.parse(body) as Record<string, unknown>;
  } catch {
    // Nothing that can be shown.
  }
  return JSON.stringify({
    message: 'The request was refused.',
    ...told,
    data: { httpStatus: status, reason: authReasons[status] ?? 'INVALID_INPUT', requestId: request.id },
  });
}

/** Paths of the library that hash a password. */
const hashingPaths: ReadonlySet<string> = new Set(['sign-in/email', 'sign-up/email', 'change-password']);

async function isWrongPassword(response: Response): Promise<boolean> {
  return (await response.clone().text()).includes('INVALID_PASSWORD');
}

/** A new password ends every other session unless the caller says otherwise: it is changed because somebody else may know it. */
function authBody(path: string, body: unknown): string {
  const text = (body as string | undefined) ?? '{}';
  if (path !== 'change-password') return text;
  try {
    return JSON.stringify({ revokeOtherSessions: true, ...(JSON.parse(text) as object) });
  } catch {
    return text;
  }
}

function emailIn(body: unknown): string {
  try {
    return String((JSON.parse(String(body)) as { email?: unknown }).email ?? '');
  } catch {
    return '';
  }
}

function webHeaders(request: FastifyRequest): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value === undefined || name === ADDRESS_HEADER || name === 'content-length') continue;
    // Browsers send Origin with every POST. Node's fetch sends the fetch metadata but no Origin, and would be taken
    // for a browser that hides where it comes from.
    if (name.startsWith('sec-fetch-') && request.headers.origin === undefined) continue;
    headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  // As much as its column holds.
  headers.set('user-agent', (request.headers['user-agent'] ?? '').slice(0, 512));
  headers.set(ADDRESS_HEADER, request.ip);
  return headers;
}

function registerTrpc(
  fastify: FastifyInstance,
  settings: ServerSettings,
  stores: Stores,
  sessions: SessionReader,
  isForeign: (request: FastifyRequest) => boolean,
  ending: AbortSignal,
): void {
  async function actorOf(request: FastifyRequest): Promise<Actor | null> {
    const session = await sessions.read(request.headers);
    return (
      session && {
        userId: session.userId,
        platformRole: session.role,
        requestId: request.id,
        listsVersion: session.listsVersion,
      }
    );
  }

  fastify.route({
    method: ['GET', 'POST'],
    url: '/trpc/:path',
    exposeHeadRoute: false,
    async handler(request, reply) {
      if (isForeign(request)) return sendForeign(request, reply);
      const { path } = request.params as { path: string };
      await fastifyRequestHandler({
        router: appRouter,
        req: request,
        res: reply,
        path,
        maxBatchSize: settings.maxBatchSize,
        onError: ({ error }) => nameRequest(error, request.id),
        createContext(): ApiContext {
          let actor: Promise<Actor | null> | undefined;
          return {
            core: stores.core,
            authenticate() {
              actor ??= actorOf(request);
              return actor;
            },
            stillSignedIn: async () => (await sessions.read(request.headers)) !== null,
            requestId: request.id,
            ending,
            liveMs: settings.liveMs,
            report(error, procedure) {
              if (error instanceof StoreUnavailableError) {
                request.log.warn(
                  { store: error.store, reason: String(error.cause), procedure },
                  'store away',
                );
              } else {
                request.log.error({ err: error, procedure }, 'procedure failed');
              }
            },
          };
        },
        // Not where a change may have been made: nobody should repeat that by itself.
        responseMeta: ({ errors }) =>
          errors.some((e) => e.cause instanceof StoreUnavailableError && !e.cause.outcome)
            ? { headers: { 'retry-after': '1' } }
            : {},
      });
      return reply;
    },
  });
}
