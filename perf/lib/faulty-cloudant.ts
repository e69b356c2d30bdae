import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `cut`: the request is carried out, and the connection breaks before the answer. */
export const cloudantModes = ['pass', '409', '429', '500', 'cut', 'hang'] as const;
export type CloudantMode = (typeof cloudantModes)[number];

/** An HTTP proxy in front of Cloudant that can answer as a server in trouble does. */
export interface FaultyCloudant {
  /** The upstream's address with the proxy's host in it. */
  url: string;
  mode: CloudantMode;
  /** Requests that met trouble. */
  met: number;
  close(): Promise<void>;
}

export async function startFaultyCloudant(upstream: string): Promise<FaultyCloudant> {
  const target = new URL(upstream);
  const forward = (incoming: IncomingMessage, outgoing: ServerResponse, isCut: boolean): void => {
    const headers = { ...incoming.headers, host: target.host };
    const onward = request(
      { host: target.hostname, port: target.port, method: incoming.method, path: incoming.url, headers },
      (answer) => {
        if (isCut) {
          answer.resume().on('end', () => incoming.socket.destroy());
          return;
        }
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    onward.on('error', () => incoming.socket.destroy());
    incoming.pipe(onward);
  };
  const refuse = (outgoing: ServerResponse, status: number, error: string, more = {}): void => {
    outgoing.writeHead(status, { 'content-type': 'application/json', ...more });
    outgoing.end(JSON.stringify({ error, reason: 'by order of the fault harness' }));
  };
  const server = createServer(async (incoming, outgoing) => {
    const { mode } = proxy;
    const isBulk = incoming.url?.includes('_bulk_docs') ?? false;
    if (mode === 'pass' || (mode === '409' && !isBulk)) return forward(incoming, outgoing, false);
    proxy.met++;
    if (mode === 'cut') return forward(incoming, outgoing, true);
    if (mode === 'hang') return void incoming.resume();
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    if (mode === '429') return refuse(outgoing, 429, 'too_many_requests', { 'retry-after': '1' });
    if (mode === '500') return refuse(outgoing, 500, 'internal_server_error');
    // A bulk write answers 201 and tells of conflicts document by document.
    const { docs } = JSON.parse(Buffer.concat(chunks).toString()) as { docs: { _id: string }[] };
    outgoing.writeHead(201, { 'content-type': 'application/json' });
    outgoing.end(JSON.stringify(docs.map(({ _id }) => ({ id: _id, error: 'conflict', reason: 'conflict' }))));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(upstream);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const proxy: FaultyCloudant = {
    url: url.href,
    mode: 'pass',
    met: 0,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return proxy;
}
