import { afterEach, describe, expect, it } from 'vitest';
import { type HealthServer, serveHealth } from './http.ts';

const open: HealthServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function serve(port: number, failing: string[] = []): Promise<HealthServer> {
  const server = await serveHealth('127.0.0.1', port, {
    unready: async () => failing,
    metrics: async () => 'up 1\n',
  });
  open.push(server);
  return server;
}

describe('health', () => {
  it('answers its three pages and nothing else', async () => {
    const { port } = await serve(0, ['nats']);
    const get = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`);
    expect((await get('/healthz')).status).toBe(200);
    const ready = await get('/readyz');
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'not ready', failing: ['nats'] }]);
    expect(await (await get('/metrics')).text()).toBe('up 1\n');
    expect((await get('/trpc')).status).toBe(404);
  });

  it('names the variable when the port that was asked for is taken', async () => {
    const { port } = await serve(0);
    await expect(serve(port)).rejects.toThrow(/SPARKROOM_WORKER_PORT/);
  });
});
