import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP line to a server on 127.0.0.1, on which what the server says can be held up. */
export interface Line {
  url: string;
  hold(): void;
  release(): void;
  close(): Promise<void>;
}

export async function startLine(port: number): Promise<Line> {
  const upstreams = new Set<Socket>();
  let held = false;
  const server = createServer((near) => {
    const far = connect({ port, host: '127.0.0.1' });
    upstreams.add(far);
    if (held) far.pause();
    far.on('data', (data) => near.write(data));
    near.on('data', (data) => far.write(data));
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => {
        upstreams.delete(far);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const each = (act: (socket: Socket) => void): void => {
    for (const socket of upstreams) act(socket);
  };
  return {
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold() {
      held = true;
      each((socket) => socket.pause());
    },
    release() {
      held = false;
      each((socket) => socket.resume());
    },
    async close() {
      each((socket) => socket.destroy());
      server.close();
    },
  };
}
