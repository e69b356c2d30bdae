import type { Me, MyClient, Paged } from '@sparkroom/contract';
import {
  clientsOfUser,
  findUser,
  guidanceByAuthor,
  ideasByAuthor,
  ratingFrames,
  setUserLocale,
  touch,
} from '@sparkroom/mysql';
import type { Actor, Core } from '../core.ts';
import { decodeCursor, encodeCursor, pageOf } from '../cursor.ts';
import { afterCommit, type Kit } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { ME, MY_CLIENTS } from '../families.ts';
import { toGuidance, toIdeaSummary } from '../views.ts';
import { listsVersion } from './access.ts';

/** The asking person and what is theirs. */
export function meUseCases({ mysql, cache, command }: Kit): Core['me'] {
  async function load(actor: Actor): Promise<Me> {
    const me = await findUser(mysql.db, actor.userId);
    if (!me) throw new DomainError('UNAUTHENTICATED', 'This account no longer exists. Sign in again.');
    return me;
  }
  async function get(actor: Actor): Promise<Me> {
    const version = await listsVersion(mysql, actor);
    const me = await cache.read(ME, { id: actor.userId, version }, () => load(actor));
    // A right: as the host has just read it, never from a cache.
    return { ...me, role: actor.platformRole };
  }
  async function clientsPage(
    actor: Actor,
    limit: number,
    after: readonly [string, string] | null,
  ): Promise<Paged<MyClient>> {
    const rows = await clientsOfUser(
      mysql.db,
      actor.userId,
      limit + 1,
      after && { name: after[0], id: after[1] },
    );
    return pageOf(
      rows,
      limit,
      (row) => row,
      (row) => encodeCursor('me.clients', [row.name, row.id]),
    );
  }
  return {
    get,
    async setLocale(actor, { locale }) {
      await command(async (trx) => {
        await setUserLocale(trx, actor.userId, locale);
        await touch(trx, [{ scope: 'user', id: actor.userId, part: '' }]);
      });
      return await afterCommit(load(actor));
    },
    async clients(actor, { limit, cursor }) {
      const after = decodeCursor('me.clients', ['string', 'id'], cursor);
      if (after) return await clientsPage(actor, limit, after);
      const version = await listsVersion(mysql, actor);
      return await cache.read(MY_CLIENTS, { id: actor.userId, variant: String(limit), version }, () =>
        clientsPage(actor, limit, null),
      );
    },
    async contributions(actor, { limit }) {
      async function ideasWithFrames() {
        const rows = await ideasByAuthor(mysql.db, actor.userId, limit);
        const frames = await ratingFrames(mysql.db, [...new Set(rows.map((row) => row.workspace_id))]);
        return { rows, frames };
      }
      // Both at once: the time is that of the slower one, not of both.
      const [{ rows: ideas, frames }, guidance] = await Promise.all([
        ideasWithFrames(),
        guidanceByAuthor(mysql.db, actor.userId, limit),
      ]);
      return {
        ideas: ideas.map((row) => {
          const frame = frames.get(row.workspace_id) ?? { raters: 0, ratings: 0, sum: 0 };
          const open = row.workspace_archived_at === null;
          return { ...toIdeaSummary(row, row.role, frame, open), workspaceName: row.workspace_name };
        }),
        guidance: guidance.map((row) => ({
          ...toGuidance(actor, row.role, row, row.archived_at === null),
          workspaceName: row.workspace_name,
        })),
      };
    },
  };
}
