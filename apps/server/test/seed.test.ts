import type { Cloudant } from '@sparkroom/cloudant';
import { isMigrated, type Mysql } from '@sparkroom/mysql';
import { verifyPassword } from 'better-auth/crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { article } from '../src/seed/article.ts';
import { faultsOf } from '../src/seed/check-chunk.ts';
import { emptyChunk } from '../src/seed/rows.ts';
import { SeedRefusedError, seedArticle, seedDemo, seedPassword } from '../src/seed/seed.ts';
import { openEmptyStores } from './empty-stores.ts';

const sizes = { clients: 60, workspaces: 60, users: 50, ideas: 300, ratings: 1500 };
const tables = [
  'audit',
  'rating',
  'idea_revision',
  'idea',
  'guidance',
  'membership',
  'workspace',
  'client',
  'account',
  'user',
] as const;

let mysql: Mysql;
let cloudant: Cloudant;
let said: string[] = [];
const options = (more: { seed?: number; add?: boolean; signal?: AbortSignal } = {}) => ({
  seed: 1,
  add: false,
  signal: new AbortController().signal,
  sizes,
  say: (line: string) => {
    said.push(line);
  },
  ...more,
});

beforeAll(async () => {
  ({ mysql, cloudant } = await openEmptyStores('seed'));
});

afterAll(async () => {
  await Promise.allSettled([mysql?.close(), cloudant?.close()]);
});

beforeEach(async () => {
  said = [];
  for (const table of tables) await mysql.db.deleteFrom(table).execute();
});

/** Everything the database holds, as a chunk; flags as booleans. */
async function stored() {
  const { db } = mysql;
  const flag = <T extends object, K extends keyof T>(rows: T[], key: K) =>
    rows.map((row) => ({ ...row, [key]: Boolean(row[key]) }));
  return {
    ...emptyChunk(),
    user: await db.selectFrom('user').selectAll().orderBy('id').execute(),
    workspace: await db.selectFrom('workspace').selectAll().orderBy('id').execute(),
    membership: await db.selectFrom('membership').selectAll().orderBy('workspace_id').execute(),
    idea: await db.selectFrom('idea').selectAll().orderBy('id').execute(),
    idea_revision: flag(
      await db.selectFrom('idea_revision').selectAll().orderBy('idea_id').orderBy('version').execute(),
      'has_body',
    ),
    rating: flag(
      await db.selectFrom('rating').selectAll().orderBy('idea_id').orderBy('user_id').execute(),
      'counted',
    ),
    guidance: await db.selectFrom('guidance').selectAll().orderBy('id').execute(),
  };
}

type Stored = Awaited<ReturnType<typeof stored>>;

async function faults(rows: Stored): Promise<string[]> {
  const versions = await cloudant.bodies.versions([...rows.idea, ...rows.guidance].map((row) => row.id));
  const texts = new Set([...versions].map(([id, { version }]) => `${id} ${version}`));
  return faultsOf(rows as unknown as Parameters<typeof faultsOf>[0], texts);
}

describe('the demo', () => {
  test('leaves the stores as use cases would, with nothing for relay, projector or sweep to do', async () => {
    expect(await isMigrated(mysql.db)).toBe(true);
    expect(await seedDemo(mysql, cloudant, options())).toBe(true);
    const rows = await stored();
    expect([rows.user.length, rows.workspace.length, rows.idea.length]).toEqual([20, 12, 200]);
    expect(await faults(rows)).toEqual([]);
    expect(await mysql.db.selectFrom('outbox').selectAll().execute()).toEqual([]);
    expect(await mysql.db.selectFrom('idea_pending').selectAll().execute()).toEqual([]);
    expect(rows.user.every((user) => user.announced_at !== null)).toBe(true);
  });

  test('gives everybody the password in the form the auth library checks', async () => {
    await seedDemo(mysql, cloudant, options());
    const accounts = await mysql.db.selectFrom('account').selectAll().execute();
    expect(accounts).toHaveLength(20);
    for (const account of accounts) {
      expect([account.providerId, account.accountId]).toEqual(['credential', account.userId]);
    }
    const hash = accounts[0]?.password ?? '';
    expect(await verifyPassword({ hash, password: seedPassword })).toBe(true);
    expect(await verifyPassword({ hash, password: 'another' })).toBe(false);
  });

  test('texts come back as they were written, the earlier ones too', async () => {
    await seedDemo(mysql, cloudant, options());
    const revised = (await stored()).idea.find((idea) => idea.body_version === 2);
    if (!revised) throw new Error('no revised idea');
    const revisions = await cloudant.bodies.revisions(revised.id, [1, 2]);
    expect(String(revisions.get(1)?.text)).not.toBe(String(revisions.get(2)?.text));
    expect((await cloudant.bodies.get(revised.id))?.body.text).toBe(revisions.get(2)?.text);
  });

  test('done twice it is there once', async () => {
    await seedDemo(mysql, cloudant, options());
    const before = await stored();
    expect(await seedDemo(mysql, cloudant, options())).toBe(false);
    expect(said.at(-1)).toContain('there already');
    expect(await stored()).toEqual(before);
  });

  test('stays out of a database with people of its own, unless told', async () => {
    await somebody();
    expect(await seedDemo(mysql, cloudant, options())).toBe(false);
    expect(said.at(-1)).toContain('left out');
    expect((await stored()).user).toHaveLength(1);
    expect(await seedDemo(mysql, cloudant, options({ add: true }))).toBe(true);
    expect((await stored()).user).toHaveLength(21);
  });
});

describe('the article’s data', () => {
  test('is complete, keeps every promise, and is the same when made again', async () => {
    expect(await seedArticle(mysql, cloudant, options())).toBe(true);
    const first = await stored();
    expect([first.user.length, first.workspace.length, first.idea.length, first.rating.length]).toEqual([
      sizes.users,
      sizes.workspaces,
      sizes.ideas,
      sizes.ratings,
    ]);
    expect(await faults(first)).toEqual([]);
    for (const table of tables) await mysql.db.deleteFrom(table).execute();
    await seedArticle(mysql, cloudant, options());
    expect(await stored()).toEqual(first);
  });

  test('interrupted, it goes on and ends up the same', async () => {
    await seedArticle(mysql, cloudant, options());
    const whole = await stored();
    for (const table of tables) await mysql.db.deleteFrom(table).execute();

    const stop = new AbortController();
    const interrupted = seedArticle(mysql, cloudant, {
      ...options({ signal: stop.signal }),
      say: () => stop.abort(),
    });
    expect(await interrupted).toBe(false);
    expect((await stored()).workspace.length).toBeLessThan(sizes.workspaces);
    // As if a run had been killed later: some workspaces are there.
    const part = article(1, sizes).workspace(5);
    await mysql.transaction(async (trx) => {
      await trx.insertInto('workspace').values(part.workspace).execute();
      await trx.insertInto('membership').values(part.membership).execute();
      await trx.insertInto('idea').values(part.idea).execute();
      await trx.insertInto('idea_revision').values(part.idea_revision).execute();
      await trx.insertInto('rating').values(part.rating).execute();
    });
    await cloudant.bodies.applyMany(part.bodies);
    expect(await seedArticle(mysql, cloudant, options())).toBe(true);
    expect(said.some((line) => line.startsWith('going on after'))).toBe(true);
    expect(await stored()).toEqual(whole);
    expect(await seedArticle(mysql, cloudant, options())).toBe(true);
    expect(said.at(-1)).toContain('there already');
  });

  test('goes beside the demo, but not among other people unless told', async () => {
    await seedDemo(mysql, cloudant, options());
    await somebody();
    const refusal = await seedArticle(mysql, cloudant, options()).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(SeedRefusedError);
    expect((refusal as Error).message).toContain('1 people of its own');
    expect((await stored()).user).toHaveLength(21);
    await mysql.db.deleteFrom('user').where('id', '=', 'somebody').execute();
    expect(await seedArticle(mysql, cloudant, options())).toBe(true);
    expect(await faults(await stored())).toEqual([]);
  });

  test('two seed numbers do not mix', async () => {
    await seedArticle(mysql, cloudant, options());
    await expect(seedArticle(mysql, cloudant, options({ seed: 2 }))).rejects.toThrow('another seed number');
  });
});

async function somebody(): Promise<void> {
  await mysql.db
    .insertInto('user')
    .values({
      id: 'somebody',
      name: 'Somebody',
      email: 'somebody@firm.example',
      email_verified: true,
      image: null,
      locale: null,
      announced_at: null,
    })
    .execute();
}
