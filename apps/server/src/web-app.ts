import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const built = fileURLToPath(new URL('../../web/dist/', import.meta.url));

/** Nothing runs that is not ours: no inline script, no foreign host, styles only with this answer's nonce. */
const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');

/** Whether a request asks for a page of the web app, which the browser routes itself. */
const wantsPage = ({ method, url, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  !/^\/(trpc|api|files|assets|admin)(\/|$|\?)/.test(url) &&
  (headers.accept ?? '').includes('text/html');

/**
 * Serves the built web app: hashed assets for ever, `index.html` for every page the browser routes itself.
 * @param nothing answers that there is nothing at an address
 * @param folder where the built app is, ending in a slash
 */
export async function registerWebApp(
  app: FastifyInstance,
  nothing: (request: FastifyRequest, reply: FastifyReply) => FastifyReply,
  folder = built,
): Promise<void> {
  const index = `${folder}index.html`;
  if (!existsSync(index)) {
    app.setNotFoundHandler(nothing);
    app.get('/', async (_request, reply) => {
      reply.code(503).type('text/plain; charset=utf-8');
      return 'The web app is not built yet. "npm start" builds it.';
    });
    return;
  }
  // Read again when a rebuild replaced it; a few kilobytes that the page cache holds.
  const html = () => readFileSync(index, 'utf8');

  const page = (reply: FastifyReply) => {
    const nonce = randomBytes(18).toString('base64url');
    return reply
      .header('content-security-policy', policy(nonce))
      .header('cache-control', 'no-cache')
      .type('text/html; charset=utf-8')
      .send(html().replaceAll('__CSP_NONCE__', nonce));
  };

  await app.register(fastifyStatic, {
    root: folder,
    index: false,
    wildcard: true,
    immutable: true,
    maxAge: '365d',
    setHeaders(reply, path) {
      if (!path.includes('/assets/')) reply.header('cache-control', 'public, max-age=3600');
    },
  });
  app.get('/', (_request, reply) => page(reply));
  app.get('/index.html', (_request, reply) => page(reply));
  app.setNotFoundHandler((request, reply) => (wantsPage(request) ? page(reply) : nothing(request, reply)));
}
