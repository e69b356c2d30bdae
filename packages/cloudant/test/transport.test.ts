import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { deadlineIn, StoreUnavailableError, withTimings } from '@sparkroom/pools';
import { afterEach, describe, expect, it } from 'vitest';
import { CloudantBodyError, CloudantError, type CloudantSettings, openCloudant } from '../src/index.ts';
import { json, type Stub, startStub } from './support.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function stub(answer: Parameters<typeof startStub>[0], settings: Partial<CloudantSettings> = {}) {
  const server: Stub = await startStub(answer);
  const url = server.url.replace('//', '//reader:s%40cret@');
  const cloudant = openCloudant({ url, prefix: 'p', deadlineMs: 3000, ...settings });
  closers.push(server.close, () => cloudant.close());
  return { server, cloudant, documents: cloudant.database('x') };
}

const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => {
      throw new Error(`expected a failure, got ${JSON.stringify(value)}`);
    },
    (error) => error,
  );

describe('what nano 11 would lose', () => {
  it.each([
    [
      'cut off inside a chunked body',
      (r: import('node:http').ServerResponse) => {
        r.writeHead(200, { 'content-type': 'application/json' });
        r.write('{"_id":"a","va');
        setImmediate(() => r.destroy());
      },
    ],
    [
      'cut off before content-length',
      (r: import('node:http').ServerResponse) => {
        r.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
        r.write('{"_id":"a","va');
        setImmediate(() => r.destroy());
      },
    ],
    [
      'a whole body that is half a JSON',
      (r: import('node:http').ServerResponse) => {
        r.writeHead(200, { 'content-type': 'application/json' }).end('{"_id":"a","va');
      },
    ],
    [
      'an empty body that should be JSON',
      (r: import('node:http').ServerResponse) => {
        r.writeHead(200, { 'content-type': 'application/json' }).end();
      },
    ],
    [
      'compressed data that is cut off',
      (r: import('node:http').ServerResponse) => {
        const whole = gzipSync(JSON.stringify({ _id: 'a', text: 'x'.repeat(1000) }));
        r.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(
          whole.subarray(0, 20),
        );
      },
    ],
  ])('is an error and never "": %s', async (_name, answer) => {
    const { server, documents } = await stub((response) => answer(response));
    const error = await failure(documents.get('a'));
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toMatchObject({ store: 'cloudant' });
    // A read is tried three times in all.
    expect(server.requests.length).toBe(3);
  });

  it('says so when the JSON is the trouble', async () => {
    const { documents } = await stub((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"a');
    });
    const error = (await failure(documents.get('a'))) as Error;
    expect(error.cause).toBeInstanceOf(CloudantBodyError);
  });

  it('recovers when only the first answer is cut off', async () => {
    const { documents } = await stub((response, index) => {
      if (index === 0) response.writeHead(200, { 'content-type': 'application/json' }).end('{"_id":');
      else json(response, 200, { _id: 'a', _rev: '1-a' });
    });
    expect(await documents.get('a')).toEqual({ _id: 'a', _rev: '1-a' });
  });

  it('settles when text is cut off, without an unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const onUnhandled = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', onUnhandled);
    closers.push(async () => process.off('unhandledRejection', onUnhandled));
    const { cloudant } = await stub((response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      response.write('half of it');
      setImmediate(() => response.destroy());
    });
    const error = await failure(cloudant.request('read', (server) => server.request({ path: 'x' })));
    expect(error).toBeInstanceOf(StoreUnavailableError);
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });

  it('reads a compressed body that is whole', async () => {
    const { documents } = await stub((response) => {
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .end(gzipSync(JSON.stringify({ _id: 'a', _rev: '1-a' })));
    });
    expect(await documents.get('a')).toEqual({ _id: 'a', _rev: '1-a' });
  });

  it('carries status, reason and headers in errors, and no credentials', async () => {
    const { server, documents } = await stub((response) =>
      json(
        response,
        403,
        { error: 'forbidden', reason: 'not yours' },
        { 'x-cloudant-request-class': 'query' },
      ),
    );
    const error = (await failure(documents.get('a'))) as CloudantError;
    expect(error).toBeInstanceOf(CloudantError);
    expect(error).toMatchObject({
      statusCode: 403,
      error: 'forbidden',
      reason: 'not yours',
      message: 'Cloudant answered 403 forbidden: not yours',
    });
    expect(error.headers['x-cloudant-request-class']).toBe('query');
    expect(JSON.stringify(error) + error.stack).not.toMatch(/s@cret|s%40cret|Basic /);
    expect(server.requests[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from('reader:s@cret').toString('base64')}`,
    );
    expect(server.requests.length).toBe(1);
  });
});

describe('deadlines', () => {
  it('ends a call that gets no answer, and its request with it', async () => {
    let gone = 0;
    const { cloudant, documents } = await stub(
      (response) => {
        response.on('close', () => {
          gone += 1;
        });
      },
      { deadlineMs: 150 },
    );
    const began = performance.now();
    const error = await failure(documents.get('a'));
    expect(error).toMatchObject({ name: 'StoreUnavailableError', store: 'cloudant' });
    expect(String(error)).toContain('no answer in time');
    expect(performance.now() - began).toBeLessThan(1000);
    await expect.poll(() => gone).toBe(1);
    expect(cloudant.gates.main.stats().busy).toBe(0);
  });

  it('ends a call whose body never ends', async () => {
    const { documents } = await stub(
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"_id":');
      },
      { deadlineMs: 150 },
    );
    expect(await failure(documents.get('a'))).toBeInstanceOf(StoreUnavailableError);
  });

  it('counts the waiting at the gate in', async () => {
    const { documents, server } = await stub(() => {}, { deadlineMs: 5000, sockets: 1 });
    const first = failure(documents.get('a', { deadline: deadlineIn(400) }));
    const second = await failure(documents.get('b', { deadline: deadlineIn(100) }));
    expect(String(second)).toContain('no connection became free in time');
    expect(server.requests.length).toBe(1);
    await first;
  });

  it('ends a call with the reason when its caller goes away', async () => {
    const { documents } = await stub(() => {});
    const controller = new AbortController();
    const call = failure(documents.get('a', { signal: controller.signal }));
    controller.abort(new Error('caller went away'));
    expect(String(await call)).toContain('caller went away');
  });
});

describe('repetition', () => {
  it('waits as long as a 429 says, also for a write', async () => {
    const at: number[] = [];
    const { documents } = await stub((response, index) => {
      at.push(performance.now());
      if (index === 0)
        json(response, 429, { error: 'too_many_requests', reason: 'limit' }, { 'retry-after': '1' });
      else json(response, 201, { ok: true, id: 'a', rev: '1-a' });
    });
    expect(await documents.put({ _id: 'a' })).toBe('1-a');
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it('gives up at once when a 429 asks for more time than there is', async () => {
    const { server, documents } = await stub((response) =>
      json(response, 429, { error: 'too_many_requests', reason: 'limit' }, { 'retry-after': '60' }),
    );
    const began = performance.now();
    const error = await failure(documents.get('a'));
    expect(error).toMatchObject({ name: 'StoreUnavailableError', retryAfterMs: 60_000 });
    expect((error as Error).cause).toMatchObject({ statusCode: 429, headers: { 'retry-after': '60' } });
    expect(performance.now() - began).toBeLessThan(1000);
    expect(server.requests.length).toBe(1);
  });

  it('repeats a read twice on 5xx, a write only when it is idempotent', async () => {
    const { server, documents } = await stub((response) =>
      json(response, 503, { error: 'down', reason: 'x' }),
    );
    expect(await failure(documents.get('a'))).toBeInstanceOf(StoreUnavailableError);
    expect(server.requests.length).toBe(3);
    await failure(documents.put({ _id: 'a' }));
    expect(server.requests.length).toBe(4);
    await failure(documents.put({ _id: 'a' }, { idempotent: true }));
    expect(server.requests.length).toBe(7);
  });

  it('does not repeat a write whose connection broke', async () => {
    const { server, documents } = await stub((response) => response.destroy());
    expect(await failure(documents.put({ _id: 'a' }))).toBeInstanceOf(StoreUnavailableError);
    expect(server.requests.length).toBe(1);
  });

  it('gives a 500 that stays on as the server worded it', async () => {
    const { documents } = await stub((response) =>
      json(response, 500, { error: 'oops', reason: 'badmatch' }),
    );
    expect(await failure(documents.get('a'))).toMatchObject({ name: 'CloudantError', statusCode: 500 });
  });
});

describe('a server that cannot be reached', () => {
  it('is named when it refuses the connection', async () => {
    const probe = createServer().listen(0, '127.0.0.1');
    await once(probe, 'listening');
    const { port } = probe.address() as import('node:net').AddressInfo;
    probe.close();
    await once(probe, 'close');
    const cloudant = openCloudant({ url: `http://127.0.0.1:${port}`, prefix: 'p' });
    closers.push(() => cloudant.close());
    const error = (await failure(cloudant.ping())) as Error;
    expect(error).toMatchObject({ name: 'StoreUnavailableError', store: 'cloudant' });
    expect(String((error.cause as NodeJS.ErrnoException).code)).toBe('ECONNREFUSED');
  });

  it('is found again when it is back, on a connection that it closed meanwhile', async () => {
    const { documents } = await stub((response) => {
      json(response, 200, { _id: 'a', _rev: '1-a' }, { connection: 'close' });
    });
    expect(await documents.get('a')).toMatchObject({ _id: 'a' });
    expect(await documents.get('a')).toMatchObject({ _id: 'a' });
  });
});

describe('sockets', () => {
  it('opens no more than asked for, and uses them again', async () => {
    const sockets = new Set<Socket>();
    let open = 0;
    let most = 0;
    const { server, documents, cloudant } = await stub(
      (response, index) => {
        if (response.socket) sockets.add(response.socket);
        open += 1;
        most = Math.max(most, open);
        setTimeout(() => {
          open -= 1;
          json(response, 200, { _id: `${index}`, _rev: '1-a' });
        }, 5);
      },
      { sockets: 6, deadlineMs: 20_000 },
    );
    const timings = await withTimings(async (mine) => {
      await Promise.all(Array.from({ length: 60 }, (_, i) => documents.get(`d${i}`)));
      return mine;
    });
    expect(server.requests.length).toBe(60);
    expect(most).toBe(6);
    // A connection may be made a little early while another comes free; never one for each request.
    expect(sockets.size).toBeLessThanOrEqual(12);
    expect(timings.count('cloudant;queue')).toBe(60);
    expect(timings.count('cloudant;service')).toBe(60);
    expect(timings.ms('cloudant;queue')).toBeGreaterThan(0);
    expect(cloudant.gates.main.stats().byTag.read).toMatchObject({ done: 60, errors: 0 });
  });
});

describe('the gate', () => {
  it('counts as errors what is wrong with the server, not what it refuses', async () => {
    const { cloudant, documents } = await stub((response, index) => {
      if (index === 0) json(response, 404, { error: 'not_found', reason: 'missing' });
      else if (index === 1) json(response, 409, { error: 'conflict', reason: 'Document update conflict.' });
      else response.destroy();
    });
    expect(await documents.get('a')).toBeNull();
    expect(await failure(documents.put({ _id: 'a' }))).toMatchObject({ statusCode: 409 });
    expect(cloudant.gates.main.stats()).toMatchObject({ done: 2, errors: 0 });
    await failure(documents.put({ _id: 'a' }));
    expect(cloudant.gates.main.stats()).toMatchObject({ done: 3, errors: 1 });
  });
});

describe('close', () => {
  it('lets running requests end and refuses new ones', async () => {
    const held: import('node:http').ServerResponse[] = [];
    const { cloudant, documents } = await stub((response) => held.push(response));
    const running = documents.get('a');
    await expect.poll(() => held.length).toBe(1);
    const closing = cloudant.close();
    expect(String(await failure(documents.get('b')))).toContain('it is being shut down');
    const [response] = held;
    if (response) json(response, 200, { _id: 'a', _rev: '1-a' });
    expect(await running).toMatchObject({ _id: 'a' });
    await closing;
  });
});

describe('IAM', () => {
  it('exchanges the key once for many calls, sends the token, and takes a new one when it is refused', async () => {
    let issued = 0;
    const iam = await startStub((response) => {
      issued += 1;
      json(response, 200, { access_token: `token${issued}`, expires_in: 3600 });
    });
    closers.push(iam.close);
    const server = await startStub((response, _index, request) => {
      if (request.headers.authorization === 'Bearer token1' && request.path.endsWith('/revoked')) {
        json(response, 401, { error: 'unauthorized', reason: 'token' });
      } else json(response, 200, { _id: 'a', _rev: '1-a' });
    });
    const cloudant = openCloudant({ url: server.url, iamKey: 'key', iamUrl: iam.url, prefix: 'p' });
    closers.push(server.close, () => cloudant.close());
    const documents = cloudant.database('x');
    await Promise.all([documents.get('a'), documents.get('b'), documents.get('c')]);
    expect(issued).toBe(1);
    expect(server.requests.every((request) => request.headers.authorization === 'Bearer token1')).toBe(true);
    expect(iam.requests[0]?.body).toContain('apikey=key');
    expect(await documents.get('revoked')).toMatchObject({ _id: 'a' });
    expect(issued).toBe(2);
  });

  it('asks again after IAM has failed', async () => {
    const iam = await startStub((response, index) => {
      if (index < 3) json(response, 500, {});
      else json(response, 200, { access_token: 'token', expires_in: 3600 });
    });
    closers.push(iam.close);
    const server = await startStub((response) => json(response, 200, { _id: 'a', _rev: '1-a' }));
    const cloudant = openCloudant({ url: server.url, iamKey: 'key', iamUrl: iam.url, prefix: 'p' });
    closers.push(server.close, () => cloudant.close());
    expect(String(await failure(cloudant.database('x').get('a')))).toContain('no IAM token could be had');
    expect(await cloudant.database('x').get('a')).toMatchObject({ _id: 'a' });
  });
});
