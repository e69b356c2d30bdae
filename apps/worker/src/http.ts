import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HealthPages {
  /** Dependencies that do not answer; empty when ready. */
  unready(): Promise<readonly string[]>;
  metrics(): Promise<string>;
}

export interface HealthServer {
  port: number;
  close(): Promise<void>;
}

/** Where health and metrics are when nothing else is said. */
const usualPort = 3001;

/**
 * Serves `/healthz` (the process runs), `/readyz` (503 with the dependencies that do not answer) and `/metrics`.
 * @param port undefined: 3001, or any free one when that is taken
 * @throws Error naming SPARKROOM_WORKER_PORT when the given port is taken
 */
export async function serveHealth(
  host: string,
  port: number | undefined,
  pages: HealthPages,
): Promise<HealthServer> {
  const server = createServer((request, response) => {
    answer(request.url ?? '/', pages, response).catch(() => response.destroy());
  });
  server.requestTimeout = 10_000;
  try {
    await listen(server, port ?? usualPort, host);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    if (port !== undefined)
      throw new Error(`Port ${port} is in use. Set SPARKROOM_WORKER_PORT to another one, or to 0 for any.`);
    await listen(server, 0, host);
  }
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      setTimeout(() => server.closeAllConnections(), 1_000).unref();
      await closed;
    },
  };
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host);
  // Rejects when `error` comes first.
  await once(server, 'listening');
}

async function answer(url: string, pages: HealthPages, response: ServerResponse): Promise<void> {
  const send = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(body));
  };
  const path = url.split('?')[0];
  if (path === '/healthz') send(200, { status: 'ok' });
  else if (path === '/readyz') {
    const failing = await pages.unready();
    send(failing.length === 0 ? 200 : 503, { status: failing.length === 0 ? 'ready' : 'not ready', failing });
  } else if (path === '/metrics') {
    const text = await pages.metrics();
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
    response.end(text);
  } else send(404, { error: 'There are /healthz, /readyz and /metrics' });
}
