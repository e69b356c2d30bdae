import { newId } from '@sparkroom/core';
import { startConsumer } from '@sparkroom/events';
import { bodiesOf, inboxOf, usersOf } from '@sparkroom/mysql';
import { every } from '../every.ts';
import { projectBodies, removeBody } from '../projection.ts';
import { reconcile } from '../reconciler.ts';
import { drainMs, type Role, type RoleContext } from '../role.ts';

/** Milliseconds between two looks for what was left over. */
const reconcileMs = 30_000;

/** Carries texts of ideas and guidance into Cloudant. Without an inbox of effects: versions guard both stores. */
export function projectorRole({ mysql, cloudant, events, log }: RoleContext): Role {
  const stores = { mysql, cloudant, bodies: bodiesOf(mysql, newId), users: usersOf(mysql, newId) };
  const inbox = inboxOf(mysql);
  const afterCommit = (): void => events.wakeOutbox();
  // Short, so that what a killed worker had in hand is soon done by another.
  const common = { events, inbox, log, concurrency: 8, ackWaitMs: 10_000 };
  const ideas = startConsumer({
    ...common,
    name: 'projector-idea-v1',
    filter: '*.idea.*',
    types: ['idea.created', 'idea.revised', 'idea.removed'] as const,
    async handler({ type, aggregate, payload }, { signal }) {
      if (type === 'idea.removed')
        await removeBody(stores, 'idea', aggregate.id, payload.bodyVersion, signal);
      else if (await projectBodies(stores, 'idea', aggregate.id, payload.bodyVersion, signal)) afterCommit();
    },
  });
  const guidance = startConsumer({
    ...common,
    name: 'projector-guidance-v1',
    filter: '*.guidance.*',
    types: ['guidance.published', 'guidance.revised', 'guidance.removed'] as const,
    async handler({ type, aggregate, payload }, { signal }) {
      if (type === 'guidance.removed')
        await removeBody(stores, 'guidance', aggregate.id, payload.bodyVersion, signal);
      else if (await projectBodies(stores, 'guidance', aggregate.id, payload.bodyVersion, signal))
        afterCommit();
    },
  });
  const reconciler = every(reconcileMs, 'reconciler', log, async (signal) => {
    const { bodies, users } = await reconcile(stores, log, signal);
    if (bodies + users > 0) afterCommit();
  });
  return {
    consumers: [ideas, guidance],
    async stop() {
      await Promise.all([ideas.stop(drainMs), guidance.stop(drainMs), reconciler.stop()]);
    },
  };
}
