import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** Something that accepts connections and never says a word. */
export async function hangingServer() {
  const sockets = new Set<Socket>();
  let seen: () => void = () => {};
  const connected = new Promise<void>((resolve) => {
    seen = resolve;
  });
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    seen();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connected,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
