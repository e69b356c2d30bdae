import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Host, openHost, type Somebody } from './host.ts';

// The server checks sessions itself (src/sessions.ts). These compare it with the auth library's own check.
let host: Host;
let ana: Somebody;
beforeAll(async () => {
  host = await openHost('sessions');
  ana = await host.somebody();
});
afterAll(() => host?.close());

async function both(headers: Record<string, string>): Promise<[library: string | null, ours: string | null]> {
  const session = await host.app.auth.api.getSession({ headers: new Headers(headers) });
  const answer = await host.query('me.get', undefined, headers);
  expect([200, 401]).toContain(answer.status);
  return [session?.user.id ?? null, answer.status === 200 ? answer.json.result.data.id : null];
}

test('both let in what is valid and keep out what is not', async () => {
  const signed = ana.bearer.authorization.replace('Bearer ', '');
  const decoded = decodeURIComponent(signed);
  const token = decoded.slice(0, decoded.lastIndexOf('.'));
  const signatureOf = (secret: string) => createHmac('sha256', secret).update(token).digest('base64');
  const cookie = (value: string) => ({ cookie: `sparkroom.session_token=${value}` });
  const bearer = (value: string) => ({ authorization: `Bearer ${value}` });
  const valid: Record<string, string>[] = [
    bearer(signed),
    bearer(encodeURIComponent(decoded)),
    bearer(token),
    { authorization: `bEaReR ${signed}` },
    cookie(encodeURIComponent(decoded)),
    { cookie: `a=b; sparkroom.session_token=${encodeURIComponent(decoded)}; c=d` },
  ];
  for (const headers of valid) expect([headers, await both(headers)]).toEqual([headers, [ana.id, ana.id]]);

  const flipped = decoded.replace(/.{3}=?$/, 'AAA=');
  const invalid: Record<string, string>[] = [
    {},
    bearer(''),
    bearer('.'),
    bearer(`${token}.`),
    bearer(flipped),
    bearer(token.slice(0, -1)),
    bearer(token.toLowerCase()),
    bearer(`${token}.${signatureOf('another secret')}`),
    bearer("' or 1=1 -- "),
    { authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}` },
    cookie(token),
    cookie(encodeURIComponent(flipped)),
    cookie(encodeURIComponent(`${token}.${signatureOf('another secret')}`)),
    cookie('%E0%A4%A'),
    { cookie: `not-sparkroom.session_token=${encodeURIComponent(decoded)}` },
  ];
  for (const headers of invalid) expect([headers, await both(headers)]).toEqual([headers, [null, null]]);
});

test('both end with the session', async () => {
  const ben = await host.somebody();
  expect(await both(ben.bearer)).toEqual([ben.id, ben.id]);
  await host.stores.mysql.db
    .updateTable('session')
    .set({ expiresAt: '2020-01-01 00:00:00.000' })
    .where('userId', '=', ben.id)
    .execute();
  expect(await both(ben.bearer)).toEqual([null, null]);

  const cem = await host.somebody();
  await host.auth('sign-out', {}, { ...cem.bearer });
  expect(await both(cem.bearer)).toEqual([null, null]);
});
