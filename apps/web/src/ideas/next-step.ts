import type { IdeaStatus } from '@sparkroom/contract';

/** The way an idea usually goes; the rest is in the menu. */
const FORWARD: Partial<Record<IdeaStatus, IdeaStatus>> = {
  draft: 'open',
  open: 'shortlisted',
  shortlisted: 'accepted',
};

/**
 * The one clear next step and the others.
 * @param status status now
 * @param reachable statuses that may be set, from the server
 */
export function steps(
  status: IdeaStatus,
  reachable: readonly IdeaStatus[],
): { next: IdeaStatus | null; others: IdeaStatus[] } {
  const wanted = FORWARD[status];
  const next = wanted !== undefined && reachable.includes(wanted) ? wanted : null;
  return { next, others: reachable.filter((s) => s !== next) };
}
