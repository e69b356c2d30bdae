import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Cloudant, type CloudantSettings, openCloudant, readCloudantSettings } from '../src/index.ts';

/** A store on the real server with databases of its own, and how to leave nothing behind. */
export async function openTestCloudant(
  overrides: Partial<CloudantSettings> = {},
): Promise<{ cloudant: Cloudant; settings: CloudantSettings; dispose: () => Promise<void> }> {
  const settings: CloudantSettings = {
    ...readCloudantSettings(process.env),
    prefix: `sparkroom-test-${randomUUID()}`,
    // The embedded server shares two cores with everything else that is tested.
    deadlineMs: 30_000,
    ...overrides,
  };
  const cloudant = openCloudant(settings);
  await cloudant.ensureDatabases();
  return {
    cloudant,
    settings,
    async dispose() {
      for (const name of ['bodies', 'legacy']) {
        await cloudant.request('write', (server) => server.db.destroy(cloudant.database(name).name), {
          idempotent: true,
        });
      }
      await cloudant.close();
    },
  };
}

export interface Stub {
  url: string;
  requests: { method: string; path: string; headers: IncomingMessage['headers']; body: string }[];
  close: () => Promise<void>;
}

/** A server that behaves badly in exactly the way that `answer` says; it gets the number of the request from 0 on. */
export async function startStub(
  answer: (response: ServerResponse, index: number, request: Stub['requests'][number]) => void,
): Promise<Stub> {
  const requests: Stub['requests'] = [];
  const server = createServer((message, response) => {
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    message.on('end', () => {
      const request = {
        method: message.method ?? '',
        path: message.url ?? '',
        headers: message.headers,
        body: Buffer.concat(chunks).toString(),
      };
      requests.push(request);
      answer(response, requests.length - 1, request);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Answers with JSON. */
export function json(
  response: ServerResponse,
  statusCode: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response
    .writeHead(statusCode, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(body));
}

/**
 * A server in front of the real one that passes everything on, except what `intercept` takes: it answers itself and
 * returns true, or waits before it lets the request go on.
 */
export async function startProxy(
  target: string,
  intercept: (request: Stub['requests'][number], response: ServerResponse) => Promise<boolean>,
): Promise<Stub> {
  const { origin, username, password } = new URL(target);
  const forward = async (request: Stub['requests'][number], response: ServerResponse) => {
    if (await intercept(request, response)) return;
    const { host, connection, 'content-length': length, ...headers } = request.headers;
    const answer = await fetch(origin + request.path, {
      method: request.method,
      headers: headers as Record<string, string>,
      ...(request.body ? { body: request.body } : {}),
    });
    const contentType = answer.headers.get('content-type') ?? 'application/json';
    response.writeHead(answer.status, { 'content-type': contentType }).end(await answer.text());
  };
  const stub = await startStub((response, _index, request) => {
    forward(request, response).catch(() => response.destroy());
  });
  const url = new URL(stub.url);
  url.username = username;
  url.password = password;
  return { ...stub, url: url.href };
}
