import type { Cloudant } from '@sparkroom/cloudant';
import { type Mysql, type Trx, touch } from '@sparkroom/mysql';
import { append, type Chunk, emptyChunk } from './rows.ts';

const rowsAtOnce = 500;

/**
 * Stores a chunk: texts first, then all rows in one transaction. So a row never points at a text that is not there,
 * and after a crash in between a repetition finds the texts stored and goes on.
 * @param passwordHash of the password that all people of the chunk get
 * @throws StoreUnavailableError, CloudantError
 */
export async function storeChunk(
  mysql: Mysql,
  cloudant: Cloudant,
  chunk: Chunk,
  passwordHash: string,
): Promise<void> {
  await cloudant.bodies.applyMany(chunk.bodies);
  await mysql.transaction((trx) => insertRows(trx, chunk, passwordHash));
}

async function insertRows(trx: Trx, chunk: Chunk, passwordHash: string): Promise<void> {
  for (const rows of parts(chunk.user)) await trx.insertInto('user').values(rows).execute();
  // As better-auth stores an account with e-mail and password: the account's id at the provider is the person's.
  const accounts = chunk.user.map((user) => ({
    id: user.id,
    userId: user.id,
    accountId: user.id,
    providerId: 'credential',
    password: passwordHash,
    createdAt: user.created_at.slice(0, 23),
    updatedAt: user.created_at.slice(0, 23),
  }));
  for (const rows of parts(accounts)) await trx.insertInto('account').values(rows).execute();
  for (const rows of parts(chunk.client)) await trx.insertInto('client').values(rows).execute();
  for (const rows of parts(chunk.workspace)) await trx.insertInto('workspace').values(rows).execute();
  for (const rows of parts(chunk.membership)) await trx.insertInto('membership').values(rows).execute();
  for (const rows of parts(chunk.idea)) await trx.insertInto('idea').values(rows).execute();
  for (const rows of parts(chunk.idea_revision)) await trx.insertInto('idea_revision').values(rows).execute();
  for (const rows of parts(chunk.rating)) await trx.insertInto('rating').values(rows).execute();
  for (const rows of parts(chunk.guidance)) await trx.insertInto('guidance').values(rows).execute();
  for (const rows of parts(chunk.audit)) await trx.insertInto('audit').values(rows).execute();
  // The workspaces are new, the people may have lists in a cache.
  const people = [...new Set(chunk.membership.map((row) => row.user_id))].sort();
  for (const ids of parts(people))
    await touch(
      trx,
      ids.map((id) => ({ scope: 'user' as const, id, part: '' })),
    );
}

function* parts<T>(rows: readonly T[]): Generator<T[]> {
  for (let i = 0; i < rows.length; i += rowsAtOnce) yield rows.slice(i, i + rowsAtOnce);
}

/** Puts `count` chunks together, so that a transaction is worth its commit. */
export function* joined(chunks: Iterable<Chunk>, count: number): Generator<Chunk> {
  let batch = emptyChunk();
  let size = 0;
  for (const chunk of chunks) {
    append(batch, chunk);
    if (++size < count) continue;
    yield batch;
    batch = emptyChunk();
    size = 0;
  }
  if (size > 0) yield batch;
}
