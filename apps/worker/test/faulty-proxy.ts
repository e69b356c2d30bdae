import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An HTTP proxy in front of Cloudant that can refuse service or swallow the answers to writes. */
export interface FaultyProxy {
  /** The upstream's address with the proxy's host in it. */
  url: string;
  mode: 'pass' | 'refuse' | 'swallow-writes';
  /** Writes that reached the upstream and whose answers were swallowed. */
  swallowed: number;
  close(): Promise<void>;
}

export async function startFaultyProxy(upstream: string): Promise<FaultyProxy> {
  const target = new URL(upstream);
  const server = createServer((incoming, outgoing) => {
    if (proxy.mode === 'refuse') return incoming.socket.destroy();
    const isWrite = incoming.url?.includes('_bulk_docs') ?? false;
    const headers = { ...incoming.headers, host: target.host };
    const forward = request(
      { host: target.hostname, port: target.port, method: incoming.method, path: incoming.url, headers },
      (answer) => {
        if (proxy.mode === 'swallow-writes' && isWrite) {
          answer.resume().on('end', () => {
            proxy.swallowed++;
          });
          return;
        }
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forward.on('error', () => incoming.socket.destroy());
    incoming.pipe(forward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(upstream);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const proxy: FaultyProxy = {
    url: url.href,
    mode: 'pass',
    swallowed: 0,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return proxy;
}
