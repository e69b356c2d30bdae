import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a server that can be closed and opened again, as if the server went away and came back. */
export interface Outlet {
  /** The given URL with this way's address in it. */
  url: string;
  close(): Promise<void>;
  open(): Promise<void>;
}

export async function openOutlet(target: string): Promise<Outlet> {
  const url = new URL(target);
  const [host, port] = [url.hostname, Number(url.port)];
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let own = 0;

  async function open(): Promise<void> {
    server = createServer((near) => {
      const far = connect(port, host);
      for (const socket of [near, far]) {
        sockets.add(socket);
        socket.on('close', () => sockets.delete(socket)).on('error', () => {});
      }
      near.pipe(far).pipe(near);
    }).listen(own, '127.0.0.1');
    await once(server, 'listening');
    own = (server.address() as { port: number }).port;
  }

  await open();
  url.hostname = '127.0.0.1';
  url.port = String(own);
  return {
    url: url.href,
    open,
    async close() {
      if (!server?.listening) return;
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
