import type { AnyDomainEvent } from '@sparkroom/contract';
import { isoOf, listActivity } from '@sparkroom/mysql';
import type { Activity, Actor, Core } from '../core.ts';
import { decodeCursor, encodeCursor, pageOf } from '../cursor.ts';
import type { Kit } from '../deps.ts';
import { DomainError } from '../errors.ts';
import { readIn } from './access.ts';

export function activityUseCases({ mysql, live }: Kit): Core['activity'] {
  return {
    async list(actor, { workspaceId, limit, cursor }) {
      const after = decodeCursor('activity.list', ['id'], cursor);
      await readIn(mysql, actor, workspaceId);
      const rows = await listActivity(mysql.db, workspaceId, actor.userId, limit + 1, after?.[0] ?? null);
      return pageOf(
        rows,
        limit,
        (row): Activity => ({
          id: row.id,
          type: row.action,
          at: isoOf(row.created_at),
          actor: row.actor_id === null ? null : { id: row.actor_id, name: row.actor_name ?? '' },
          subject: { type: row.target_type, id: row.target_id, title: row.title },
        }),
        (row) => encodeCursor('activity.list', [row.id]),
      );
    },
    async *live(actor, { workspaceId, lastEventId }, signal) {
      await readIn(mysql, actor, workspaceId);
      for await (const item of live.subscribe({ workspaceId, afterSeq: lastEventId ?? null, signal })) {
        if (item.kind !== 'event') {
          // Behind a gap the removal of this member may have been among what was skipped.
          await readIn(mysql, actor, workspaceId);
          yield { kind: item.kind, seq: item.seq };
          continue;
        }
        const { event } = item;
        if (isOwnMembership(event, actor) && !(await mayStay(() => readIn(mysql, actor, workspaceId))))
          return;
        if (!mayHear(actor, event)) continue;
        yield {
          kind: 'event',
          seq: item.seq,
          type: event.type,
          aggregate: { type: event.aggregate.type, id: event.aggregate.id },
          actorId: event.actorId,
          at: event.at,
        };
      }
    },
    async mayListen(actor, { workspaceId }) {
      await readIn(mysql, actor, workspaceId);
    },
  };
}

/** Whether somebody let this listener in, changed what they may do, or put them out. */
const isOwnMembership = (event: AnyDomainEvent, actor: Actor): boolean =>
  event.aggregate.type === 'membership' && 'userId' in event.payload && event.payload.userId === actor.userId;

/**
 * Asks the database and not the event: one that is read again after a reconnect may have been overtaken.
 * @returns false when the listener may not hear any more
 */
async function mayStay(check: () => Promise<unknown>): Promise<boolean> {
  try {
    await check();
    return true;
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
}

/** Drafts are heard of by their author alone; the copying of texts is nobody's news. */
function mayHear(actor: Actor, event: AnyDomainEvent): boolean {
  switch (event.type) {
    case 'idea.created':
    case 'idea.revised':
    case 'idea.removed':
      return event.payload.status !== 'draft' || event.actorId === actor.userId;
    case 'idea.bodyStored':
    case 'guidance.bodyStored':
      return false;
    default:
      return true;
  }
}
