import { closeInvitationsOf, insertAudit, type Trx } from '@sparkroom/mysql';
import type { Actor } from '../core.ts';

/** What happened to an invitation, for the audit. */
export async function auditInvitation(
  trx: Trx,
  actor: Actor,
  verb: 'created' | 'revoked' | 'accepted',
  workspaceId: string,
  id: string,
  detail: Record<string, unknown> = {},
): Promise<void> {
  await insertAudit(trx, {
    actorId: actor.userId,
    action: `invitation.${verb}`,
    targetType: 'invitation',
    targetId: id,
    workspaceId,
    // An address of somebody outside is not everybody's business.
    private: true,
    detail,
    requestId: actor.requestId,
  });
}

/**
 * Withdraws the open invitations of a member who may not invite any more: what they promised ends with their right.
 * The caller holds the lock of that member's row.
 */
export async function withdrawInvitationsOf(
  trx: Trx,
  actor: Actor,
  workspaceId: string,
  inviterId: string,
): Promise<void> {
  for (const id of await closeInvitationsOf(trx, workspaceId, inviterId)) {
    await auditInvitation(trx, actor, 'revoked', workspaceId, id, { inviterId });
  }
}
