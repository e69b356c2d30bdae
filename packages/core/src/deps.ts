import type { Cache, Cause } from '@sparkroom/cache';
import type { Cloudant } from '@sparkroom/cloudant';
import type { EventName, EventPayload } from '@sparkroom/contract';
import type { LiveFeed } from '@sparkroom/events';
import {
  insertAudit,
  insertEvent,
  isTransient,
  type Mysql,
  type Touch,
  type Trx,
  touch,
} from '@sparkroom/mysql';
import { StoreUnavailableError } from '@sparkroom/pools';
import { ulid } from 'ulid';
import { type BodyReader, bodyReader } from './bodies.ts';
import type { Actor } from './core.ts';
import { type Invalidator, invalidator } from './invalidator.ts';
import { touchedBy } from './touched.ts';

/** What the use cases stand on. */
export interface CoreDeps {
  mysql: Mysql;
  bodies: Cloudant['bodies'];
  cache: Cache;
  live: Pick<LiveFeed, 'subscribe'>;
  /** Tells the relay that events wait; may be lost. */
  wakeRelay(): void;
}

export interface Kit {
  mysql: Mysql;
  bodies: BodyReader;
  cache: Cache;
  live: CoreDeps['live'];
  /** One transaction, after which the relay is woken and what it changed is dropped from the cache. */
  command<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  /** Writes an event and its audit row into the transaction, and counts the change in the collections it touches. */
  record<N extends EventName>(trx: Trx, actor: Actor, fact: Fact<N>): Promise<void>;
}

export interface Fact<N extends EventName = EventName> {
  type: N;
  aggregateId: string;
  aggregateVersion: number;
  workspaceId: string | null;
  payload: EventPayload<N>;
  /** Kept in the audit row beside the payload: before and after. */
  detail?: Record<string, unknown>;
  /** Only the actor sees it in the workspace's activity. */
  private?: boolean;
}

/** A new ULID: 26 characters, later ones sort behind earlier ones. */
export const newId = (): string => ulid();

export function kitOf(deps: CoreDeps): Kit {
  /** What a transaction has recorded, for after its commit. A try that is repeated has a transaction of its own. */
  const recorded = new WeakMap<Trx, Recorded[]>();
  const invalidate: Invalidator = invalidator(deps.mysql, deps.cache);
  return {
    mysql: deps.mysql,
    bodies: bodyReader(deps.mysql, deps.bodies, deps.cache),
    cache: deps.cache,
    live: deps.live,
    async command(work) {
      let last: Trx | undefined;
      try {
        const value = await deps.mysql.transaction(async (trx) => {
          last = trx;
          return await work(trx);
        });
        deps.wakeRelay();
        return value;
      } catch (error) {
        // Three tries met others in the way: too busy now, not broken.
        throw isTransient(error)
          ? new StoreUnavailableError('mysql', { cause: error, detail: 'too many changes at once' })
          : error;
      } finally {
        // After a failure too: a commit without an answer may have happened.
        for (const { touches, cause } of (last && recorded.get(last)) ?? []) invalidate(touches, cause);
      }
    },
    async record(trx, actor, fact) {
      const id = newId();
      await insertEvent(trx, {
        id,
        type: fact.type,
        aggregateId: fact.aggregateId,
        aggregateVersion: fact.aggregateVersion,
        workspaceId: fact.workspaceId,
        actorId: actor.userId,
        requestId: actor.requestId,
        payload: fact.payload,
      });
      await insertAudit(trx, {
        actorId: actor.userId,
        action: fact.type,
        targetType: fact.type.slice(0, fact.type.indexOf('.')),
        targetId: fact.aggregateId,
        workspaceId: fact.workspaceId,
        private: fact.private ?? false,
        detail: { ...(fact.payload as Record<string, unknown>), ...fact.detail },
        requestId: actor.requestId,
      });
      const member = (fact.payload as { userId?: string }).userId;
      const touches = touchedBy({
        type: fact.type,
        aggregateId: fact.aggregateId,
        workspaceId: fact.workspaceId,
        userId: member ?? actor.userId,
      });
      // Last, because these rows are shared with others' commands.
      await touch(trx, touches);
      const cause = { eventId: id, event: fact.type, actorId: actor.userId, requestId: actor.requestId };
      recorded.set(trx, [...(recorded.get(trx) ?? []), { touches, cause }]);
    },
  };
}

/**
 * Reads what the caller of a command gets to see, when its change is stored already.
 * @throws StoreUnavailableError with `outcome: 'stored'`, so that nobody repeats what has been done
 */
export async function afterCommit<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    throw new StoreUnavailableError(error.store, { cause: error, outcome: 'stored' });
  }
}

interface Recorded {
  touches: Touch[];
  cause: Cause;
}

/** Aggregate id of a membership. */
export const membershipId = (workspaceId: string, userId: string): string => `${workspaceId}:${userId}`;
