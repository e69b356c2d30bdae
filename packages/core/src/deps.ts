import type { Cache } from '@sparkroom/cache';
import type { Cloudant } from '@sparkroom/cloudant';
import type { EventName, EventPayload } from '@sparkroom/contract';
import type { LiveFeed } from '@sparkroom/events';
import { insertAudit, insertEvent, isTransient, type Mysql, type Trx } from '@sparkroom/mysql';
import { StoreUnavailableError } from '@sparkroom/pools';
import { ulid } from 'ulid';
import { type BodyReader, bodyReader } from './bodies.ts';
import type { Actor } from './core.ts';

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
  /** One transaction, after which the relay is woken. */
  command<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  /** Writes an event and its audit row into the transaction. */
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

export const newId = (): string => ulid();

export function kitOf(deps: CoreDeps): Kit {
  return {
    mysql: deps.mysql,
    bodies: bodyReader(deps.mysql, deps.bodies, deps.cache),
    cache: deps.cache,
    live: deps.live,
    async command(work) {
      try {
        const value = await deps.mysql.transaction(work);
        deps.wakeRelay();
        return value;
      } catch (error) {
        // Three tries met others in the way: too busy now, not broken.
        throw isTransient(error)
          ? new StoreUnavailableError('mysql', { cause: error, detail: 'too many changes at once' })
          : error;
      }
    },
    async record(trx, actor, fact) {
      await insertEvent(trx, {
        id: newId(),
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
    },
  };
}

/** Aggregate id of a membership. */
export const membershipId = (workspaceId: string, userId: string): string => `${workspaceId}:${userId}`;
