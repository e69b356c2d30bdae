import { type Cache, families, openCache, withoutCache } from '@sparkroom/cache';
import { type Actor, type Core, createCore, DomainError, leaseOf, touchedBy } from '@sparkroom/core';
import { openChangeFeed } from '@sparkroom/events';
import { type CheckerOptions, createChecker, type Tier } from '../coherence/checker.ts';
import type { Expectation } from '../coherence/expectations.ts';
import { serverTier } from '../coherence/server-tier.ts';
import type { Role, RoleContext } from '../role.ts';

type Result = Parameters<CheckerOptions['report']>[0];

/**
 * Follows the events and looks whether what is served follows them: through the use cases with Redis alone, with the
 * memory of a process too, and through servers over HTTP where they are named.
 */
export function coherenceRole(context: RoleContext): Role {
  const { mysql, cloudant, cache, events, log, metrics, settings } = context;
  // Room for nothing: every read shows what Redis has.
  const redisOnly = openCache({ ...settings.cache, memoryBytes: 1 }, () => {});
  const coreOver = (one: Cache): Core =>
    createCore({
      mysql,
      bodies: cloudant.bodies,
      cache: one,
      live: { async *subscribe() {} },
      wakeRelay() {},
    });
  const tierOver = (name: string, one: Cache): Tier => {
    const core = coreOver(one);
    return { name, read: (expectation) => readFrom(core, expectation) };
  };
  const { coherence } = settings;
  /** Says what is old, with the key it came from and what filled and emptied that last. */
  async function tell({ window, tier, event, expectation }: Result): Promise<void> {
    const [family = '', id = ''] = keyOf(expectation);
    const known = families().get(family);
    const story = known && (await cache.story(known, id).catch(() => null));
    log.error(
      {
        window,
        tier,
        eventId: event.id,
        event: event.type,
        reading: expectation.reading,
        key: `${family}:${id}`,
        version: story?.version,
        notes: story?.notes,
      },
      'a cache serves what is older than the database',
    );
  }
  const figures = metrics.coherence();
  const checker = createChecker({
    tiers: [
      tierOver('redis', redisOnly),
      tierOver('memory', cache),
      ...coherence.servers.map((url, i) => serverTier(`server${i + 1}`, url, coherence)),
    ],
    truth: tierOver('database', withoutCache(cache)).read,
    report(result) {
      figures.checked(result);
      if (result.verdict === 'incoherent') void tell(result);
    },
  });
  metrics.watchCache(cache);
  const feed = openChangeFeed({
    events,
    log,
    onEvent(event) {
      const { payload } = event;
      const userId = 'userId' in payload ? payload.userId : event.actorId;
      const { type, workspaceId, aggregate } = event;
      for (const { scope, id } of touchedBy({ type, aggregateId: aggregate.id, workspaceId, userId }))
        cache.leases.drop(leaseOf(scope, id), Date.parse(event.at));
      if (!checker.watch(event)) figures.skipped();
    },
    onBeat: (at) => cache.leases.beat(at),
    onInterrupted: () => cache.leases.interrupted(),
  });
  return {
    consumers: [],
    async stop() {
      await feed.close();
      await checker.stop();
      await redisOnly.close();
    },
  };
}

/** Family and id of the key that a read is served from. */
function keyOf({ reading, userId }: Expectation): [family: string, id: string] {
  switch (reading.procedure) {
    case 'ideas.list':
      return ['ideas', reading.input.workspaceId];
    case 'ideas.ranking':
      return ['ranking', reading.input.workspaceId];
    case 'members.list':
      return ['members', reading.input.workspaceId];
    case 'workspaces.get':
      return ['counts', reading.input.id];
    case 'workspaces.list':
      return ['my-workspaces', userId];
    case 'me.clients':
      return ['my-clients', userId];
  }
}

/** Reads as somebody, as the procedures do. @returns null where they have no right */
async function readFrom(core: Core, { reading, userId }: Expectation): Promise<unknown> {
  const actor: Actor = { userId, platformRole: 'user', requestId: 'coherence' };
  const page = { limit: 20 };
  try {
    switch (reading.procedure) {
      case 'ideas.list':
        return await core.ideas.list(actor, {
          ...page,
          ...reading.input,
          sort: 'newest',
          filter: 'all',
          withBody: false,
        });
      case 'ideas.ranking':
        return await core.ideas.ranking(actor, { ...page, ...reading.input });
      case 'members.list':
        return await core.members.list(actor, { ...page, ...reading.input });
      case 'workspaces.get':
        return await core.workspaces.get(actor, reading.input);
      case 'workspaces.list':
        return await core.workspaces.list(actor, { ...page, archived: false });
      case 'me.clients':
        return await core.me.clients(actor, page);
    }
  } catch (error) {
    if (error instanceof DomainError) return null;
    throw error;
  }
}
