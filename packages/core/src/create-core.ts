import type { Core } from './core.ts';
import { type CoreDeps, kitOf } from './deps.ts';
import { activityUseCases } from './use-cases/activity.ts';
import { clientUseCases } from './use-cases/clients.ts';
import { guidanceUseCases } from './use-cases/guidance.ts';
import { ideaUseCases } from './use-cases/ideas.ts';
import { invitationUseCases } from './use-cases/invitations.ts';
import { meUseCases } from './use-cases/me.ts';
import { memberUseCases } from './use-cases/members.ts';
import { ratingUseCases } from './use-cases/ratings.ts';
import { workspaceUseCases } from './use-cases/workspaces.ts';

/** All use cases over open stores. Closing the stores is the host's business. */
export function createCore(deps: CoreDeps): Core {
  const kit = kitOf(deps);
  const workspaces = workspaceUseCases(kit);
  return {
    me: meUseCases(kit),
    clients: clientUseCases(kit),
    workspaces,
    members: memberUseCases(kit),
    invitations: invitationUseCases(kit, workspaces),
    ideas: ideaUseCases(kit),
    ratings: ratingUseCases(kit),
    guidance: guidanceUseCases(kit),
    activity: activityUseCases(kit),
  };
}
