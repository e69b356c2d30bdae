import type { Score } from '@sparkroom/contract';
import {
  deleteRating,
  findIdea,
  findRating,
  type LockedIdea,
  lockIdea,
  now,
  putRating,
  ratingFrame,
  type Trx,
} from '@sparkroom/mysql';
import type { Actor, Core } from '../core.ts';
import { afterCommit, type Kit } from '../deps.ts';
import { DomainError, notFound } from '../errors.ts';
import { maySeeIdea, rateable } from '../policy.ts';
import { ideaScore, sumsOf } from '../views.ts';
import { writeIn } from './access.ts';

export function ratingUseCases({ mysql, command, record }: Kit): Core['ratings'] {
  /** The idea, locked, if the actor may rate it now. */
  async function lockToRate(trx: Trx, actor: Actor, ideaId: string): Promise<LockedIdea> {
    const seen = await findIdea(trx, ideaId, actor.userId);
    if (!seen) throw notFound('idea');
    const role = await writeIn(trx, actor, seen.workspace_id, 'idea.rate', 'idea');
    const row = await lockIdea(trx, ideaId);
    if (!row || !maySeeIdea(actor, role, { authorId: row.author_id, status: row.status }))
      throw notFound('idea');
    if (!rateable.includes(row.status)) {
      throw new DomainError(
        'NOT_RATEABLE',
        `Ideas are rated while they are open or shortlisted; this one is ${row.status}.`,
      );
    }
    return row;
  }

  /** Moves the idea's sums by the difference between two ratings of one person, and records it. */
  async function apply(
    trx: Trx,
    actor: Actor,
    row: LockedIdea,
    before: { stars: number; counted: boolean } | null,
    after: { stars: number; counted: boolean } | null,
  ): Promise<void> {
    const old = before?.counted ? before.stars : 0;
    const fresh = after?.counted ? after.stars : 0;
    const count = row.rating_count + (fresh ? 1 : 0) - (old ? 1 : 0);
    const eventVersion = row.event_version + 1;
    await trx
      .updateTable('idea')
      .set({
        rating_count: count,
        rating_sum: row.rating_sum + fresh - old,
        rating_sumsq: row.rating_sumsq + fresh * fresh - old * old,
        event_version: eventVersion,
        active_at: now,
      })
      .where('id', '=', row.id)
      .execute();
    const fact = { aggregateId: row.id, aggregateVersion: eventVersion, workspaceId: row.workspace_id };
    const payload = { userId: actor.userId, raters: count };
    if (after) {
      await record(trx, actor, {
        type: 'idea.rated',
        ...fact,
        payload: { ...payload, first: before === null },
        // How somebody rated is theirs to tell; the activity says only that they did.
        detail: {},
      });
    } else {
      await record(trx, actor, { type: 'idea.unrated', ...fact, payload });
    }
  }

  async function scoreNow(actor: Actor, ideaId: string): Promise<Score> {
    const row = await findIdea(mysql.db, ideaId, actor.userId);
    if (!row) throw notFound('idea');
    return ideaScore(sumsOf(row), await ratingFrame(mysql.db, row.workspace_id), row.author_rates !== null);
  }

  return {
    async set(actor, { ideaId, stars }) {
      await command(async (trx) => {
        const row = await lockToRate(trx, actor, ideaId);
        const before = (await findRating(trx, ideaId, actor.userId)) ?? null;
        const counted = row.author_id !== actor.userId;
        const same = before?.stars === stars && before.idea_version === row.body_version;
        if (same && Boolean(before?.counted) === counted) return;
        await putRating(trx, { ideaId, userId: actor.userId, stars, counted, ideaVersion: row.body_version });
        await apply(trx, actor, row, before && { stars: before.stars, counted: Boolean(before.counted) }, {
          stars,
          counted,
        });
      });
      return { ideaId, myRating: stars, score: await afterCommit(scoreNow(actor, ideaId)) };
    },
    async clear(actor, { ideaId }) {
      await command(async (trx) => {
        const row = await lockToRate(trx, actor, ideaId);
        const before = await findRating(trx, ideaId, actor.userId);
        if (!before) return;
        await deleteRating(trx, ideaId, actor.userId);
        await apply(trx, actor, row, { stars: before.stars, counted: Boolean(before.counted) }, null);
      });
      return { ideaId, myRating: null, score: await afterCommit(scoreNow(actor, ideaId)) };
    },
  };
}
