import { createServer } from 'node:net';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { isPortFree, nextFreePort } from '../src/ports.ts';
import { type Site, type SiteOptions, startSite } from '../src/site.ts';
import type { Stack } from '../src/stack.ts';
import { startSteps } from '../src/steps.ts';
import { ports, stackForTest, until } from './helpers.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

interface Running {
  site: Site;
  stack: Stack;
  said: string[];
}

/** An empty site on stores of its own. */
async function siteForTest(base: number, options: Partial<SiteOptions> = {}): Promise<Running> {
  const { stack } = await stackForTest({ ports: await ports(base) });
  const said: string[] = [];
  const steps = startSteps((line) => said.push(line));
  const port = options.port ?? (await nextFreePort(base + 10));
  const site = await startSite(stack, { host: '127.0.0.1', steps, seed: false, ...options, port });
  onTestFinished(() => site.stop());
  return { site, stack, said };
}

const status = async (url: string): Promise<number> => {
  const response = await fetch(url);
  await response.body?.cancel();
  return response.status;
};

/** Holds a port of 127.0.0.1 until the test is over. */
async function hold(port: number): Promise<void> {
  const holder = createServer();
  await new Promise<void>((resolve, reject) => {
    holder.once('error', reject).listen(port, '127.0.0.1', () => resolve());
  });
  onTestFinished(() => void holder.close());
}

test('ready means both are; what the environment says of another site does not count; any name of this machine does', async () => {
  // What a browser test finds in its environment: the site that was started for all of them.
  vi.stubEnv('SPARKROOM_URL', 'http://127.0.0.1:1');
  vi.stubEnv('SPARKROOM_PORT', '1');
  const taken = await nextFreePort(3001);
  await hold(taken);
  vi.stubEnv('SPARKROOM_WORKER_PORT', String(taken));

  const { site, stack, said } = await siteForTest(24_560);
  const worker = `http://127.0.0.1:${site.env.SPARKROOM_WORKER_PORT}`;
  expect(await status(`${site.url}/readyz`)).toBe(200);
  expect(await status(`${worker}/readyz`)).toBe(200);
  expect(Number(site.env.SPARKROOM_WORKER_PORT)).toBeGreaterThan(taken);
  expect(site.env.SPARKROOM_URL).toBe(site.url);
  expect(said.join('\n')).toContain(`${worker}/readyz (worker)`);

  const port = new URL(site.url).port;
  const send = (origin: string, path: string, body: object, from = origin): Promise<Response> =>
    fetch(`${origin}/api/auth/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: from },
      body: JSON.stringify(body),
    });
  const account = { name: 'Ana', email: 'ana@example.com', password: 'sparkroom-demo' };
  expect((await send(site.url, 'sign-up/email', account)).status).toBe(200);
  for (const origin of [`http://127.0.0.1:${port}`, `http://localhost:${port}`]) {
    const signedIn = await send(origin, 'sign-in/email', account);
    expect(signedIn.status, origin).toBe(200);
    const cookies = signedIn.headers.getSetCookie();
    // A cookie for one name only, or for https only, would not come back.
    expect(cookies.join('; ')).not.toMatch(/domain=|secure/i);
    const cookie = cookies.map((line) => line.split(';')[0]).join('; ');
    const mine = await fetch(`${origin}/trpc/me.get`, { headers: { cookie, origin } });
    expect(await mine.text(), origin).toContain('ana@example.com');
  }
  expect((await send(site.url, 'sign-in/email', account, 'http://127.0.0.1:1')).status).toBe(403);

  // A server that comes back while a store is away serves what it can, and is left alone.
  await stack.kill('redis');
  process.kill(site.pid('server') ?? 0, 'SIGKILL');
  await until('it is back', () => said.some((line) => line.includes('The server is running again')), 30_000);
  expect(await status(`${site.url}/healthz`)).toBe(200);
  expect(await status(`${site.url}/readyz`)).toBe(503);
  await stack.restart('redis');
  await until('it is ready', async () => (await status(`${site.url}/readyz`)) === 200);
}, 120_000);

test('a public address and a port for the worker are taken as asked; one that is in use is named with its variable', async () => {
  const workerPort = await nextFreePort(24_595);
  const publicUrl = 'https://sparkroom.example';
  const { site, stack } = await siteForTest(24_580, { workerPort, publicUrl });
  expect(site.env).toMatchObject({ SPARKROOM_URL: publicUrl, SPARKROOM_WORKER_PORT: String(workerPort) });
  expect(await status(`http://127.0.0.1:${workerPort}/readyz`)).toBe(200);
  const signUp = await fetch(`${site.url}/api/auth/sign-up/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: publicUrl },
    body: JSON.stringify({ name: 'Ana', email: 'ana@example.com', password: 'sparkroom-demo' }),
  });
  expect(signUp.status).toBe(200);

  const second = startSite(stack, {
    host: '127.0.0.1',
    port: await nextFreePort(24_596),
    workerPort,
    steps: startSteps(() => {}),
  });
  await expect(second).rejects.toMatchObject({ code: 'port-in-use' });
  await expect(second).rejects.toThrow(
    new RegExp(`The worker needs port ${workerPort}.+SPARKROOM_WORKER_PORT=`, 's'),
  );

  // A server that ends at once takes the worker with it, and its last words are in the error.
  await site.stop();
  const broken = startSite(stack, {
    host: '127.0.0.1',
    port: await nextFreePort(24_598),
    workerPort,
    seed: false,
    steps: startSteps(() => {}),
    env: { SPARKROOM_BODY_LIMIT: 'big' },
  });
  await expect(broken).rejects.toThrow(/The server ended at once.+SPARKROOM_BODY_LIMIT must be/s);
  expect(await isPortFree(workerPort)).toBe(true);
}, 120_000);
