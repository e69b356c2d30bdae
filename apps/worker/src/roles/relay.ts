import { countAdvisories, startAuditor, startRelay } from '@sparkroom/events';
import { inboxOf, outboxAuditOf, outboxOf, PARTITIONS } from '@sparkroom/mysql';
import { every } from '../every.ts';
import type { Role, RoleContext } from '../role.ts';

/** Days for which consumers remember an event: longer than the stream keeps it. */
const rememberedDays = 31;

/**
 * Carries committed events from the outbox into the stream, watches that the stream keeps them, and clears away what is
 * no longer needed: outbox rows a day after they left, inbox rows of events that the stream has let go.
 */
export function relayRole({ mysql, events, log, metrics }: RoleContext): Role {
  const outbox = outboxOf(mysql);
  const relay = startRelay({ outbox, events, partitions: PARTITIONS, log, metrics: metrics.relay });
  metrics.watchRelay(relay, () => outbox.depth());
  const auditor = startAuditor({
    outbox: outboxAuditOf(mysql),
    events,
    log,
    afterRepublish: () => events.wakeOutbox(),
  });
  metrics.watchAuditor(auditor);
  metrics.watchAdvisories(() => countAdvisories(events));
  const inbox = inboxOf(mysql);
  const purge = every(10 * 60_000, 'purge', log, async (signal) => {
    while (!signal.aborted && (await outbox.purge(24, 1_000)) === 1_000);
    while (!signal.aborted && (await inbox.purge(rememberedDays, 1_000)) === 1_000);
  });
  return {
    consumers: [],
    async stop() {
      await Promise.all([purge.stop(), auditor.stop(), relay.stop()]);
    },
  };
}
