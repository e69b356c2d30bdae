import type { Cloudant } from '@sparkroom/cloudant';
import type { Mysql } from '@sparkroom/mysql';
import { hashPassword } from 'better-auth/crypto';
import { type ArticleSizes, article } from './article.ts';
import { people } from './content/index.ts';
import { demo, demoEmail } from './demo.ts';
import { duration, Progress } from './progress.ts';
import { joined, storeChunk } from './store.ts';

/** Of everybody who was seeded. */
export const seedPassword = 'sparkroom-demo';

export interface SeedOptions {
  seed: number;
  /** Also into a database that has people of its own. */
  add: boolean;
  say(line: string): void;
  /** Ends between two batches; a later run goes on from there. */
  signal: AbortSignal;
  /** Smaller than the article, for tests. */
  sizes?: ArticleSizes;
}

/** The data cannot go into this database; the message says why and what to do. */
export class SeedRefusedError extends Error {
  override readonly name = 'SeedRefusedError';
}

const articleEmail = '%@article.sparkroom.example';

async function peopleOf(mysql: Mysql, own: 'all' | 'own'): Promise<number> {
  let query = mysql.db.selectFrom('user').select((eb) => eb.fn.countAll().as('n'));
  if (own === 'own') {
    const demoEmails = Object.values(people).map((person) => person.email);
    query = query.where('email', 'not like', articleEmail).where('email', 'not in', demoEmails);
  }
  return Number((await query.executeTakeFirstOrThrow()).n);
}

const userIdOf = async (mysql: Mysql, email: string): Promise<string | undefined> =>
  (await mysql.db.selectFrom('user').select('id').where('email', '=', email).executeTakeFirst())?.id;

/**
 * Puts the demo into an empty database. With people in it already nothing is done: the accounts of the demo have a
 * password that everybody knows.
 * @returns whether it was stored now
 * @throws StoreUnavailableError, CloudantError
 */
export async function seedDemo(mysql: Mysql, cloudant: Cloudant, options: SeedOptions): Promise<boolean> {
  const { say } = options;
  if ((await userIdOf(mysql, demoEmail)) !== undefined) {
    say('The demo is there already; nothing to do.');
    return false;
  }
  const others = await peopleOf(mysql, 'all');
  if (others > 0 && !options.add) {
    say(
      `The demo was left out: it goes into an empty database only, and this one has ${others} people. ` +
        'Add --add to put it in all the same; its accounts have a password that everybody knows.',
    );
    return false;
  }
  const started = performance.now();
  const chunk = demo(options.seed, Date.now());
  await storeChunk(mysql, cloudant, chunk, await hashPassword(seedPassword));
  say(
    `${chunk.client.length} clients, ${chunk.workspace.length} workspaces, ${chunk.user.length} people, ` +
      `${chunk.idea.length} ideas, ${chunk.rating.length} ratings, ${chunk.guidance.length} guidance ` +
      `(${duration((performance.now() - started) / 1000)})`,
  );
  return true;
}

/** Workspaces of one transaction: about 500 ideas and 5,000 ratings. */
const workspacesAtOnce = 25;

/**
 * Puts the article's data into a database without people of its own (the demo's do not count), in batches of whole
 * workspaces, each in one transaction. Interrupted, it goes on where it stopped when called again with the same seed.
 * @returns whether all of it is stored now; false when `signal` ended it
 * @throws SeedRefusedError when the database has people of its own and `add` is false, or the article's data of another
 *   seed; StoreUnavailableError, CloudantError
 */
export async function seedArticle(mysql: Mysql, cloudant: Cloudant, options: SeedOptions): Promise<boolean> {
  const { say, signal } = options;
  const data = article(options.seed, options.sizes);
  const { sizes } = data;
  const first = await userIdOf(mysql, 'person0@article.sparkroom.example');
  if (first !== undefined && first !== data.userId(0)) {
    throw new SeedRefusedError(
      "This database has the article's data of another seed number (or size). Give that number with --seed to complete it, or start over with an empty database (npm start -- --reset).",
    );
  }
  const own = first === undefined ? await peopleOf(mysql, 'own') : 0;
  if (own > 0 && !options.add) {
    throw new SeedRefusedError(
      `This database has ${own} people of its own, so the article's data was not put into it. ` +
        'Use an empty database, or add --add to mix them on purpose.',
    );
  }
  if (first === undefined) {
    say(`${sizes.users} people and ${sizes.clients} clients`);
    await storeChunk(mysql, cloudant, data.base(), await hashPassword(seedPassword));
  }

  const ids = Array.from({ length: sizes.workspaces }, (_, i) => data.workspaceId(i));
  const there = new Set<string>();
  for (let i = 0; i < ids.length; i += 1000) {
    const rows = await mysql.db
      .selectFrom('workspace')
      .select('id')
      .where('id', 'in', ids.slice(i, i + 1000))
      .execute();
    for (const row of rows) there.add(row.id);
  }
  if (there.size === ids.length) {
    say("The article's data is there already; nothing to do.");
    return true;
  }
  if (there.size > 0) say(`going on after ${there.size} workspaces that an earlier run stored`);

  const progress = new Progress('workspaces with their ideas and ratings', ids.length, there.size);
  const missing = ids.keys().filter((i) => !there.has(ids[i] as string));
  const batches = joined(
    missing.map((i) => data.workspace(i)),
    workspacesAtOnce,
  );
  // Two at once: while MySQL commits one batch, the document store takes the texts of the other.
  const work = async (): Promise<void> => {
    for (const chunk of batches) {
      if (signal.aborted) return;
      await storeChunk(mysql, cloudant, chunk, '');
      progress.add(chunk.workspace.length);
    }
  };
  const failures = (await Promise.allSettled([work(), work()])).filter((r) => r.status === 'rejected');
  if (failures[0]) throw failures[0].reason;
  return !signal.aborted;
}
