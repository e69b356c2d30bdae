import { createHash, randomBytes } from 'node:crypto';
import type { Invitation } from '@sparkroom/contract';
import {
  closeExpired,
  closeInvitation,
  findInvitation,
  findInvitationByToken,
  findMember,
  findUser,
  findUserByEmail,
  isDuplicate,
  isoOf,
  listInvitations,
  lockAccess,
  lockInvitationByToken,
  lockSeat,
} from '@sparkroom/mysql';
import type { Core } from '../core.ts';
import { decodeCursor, encodeCursor, pageOf } from '../cursor.ts';
import { afterCommit, type Kit, newId } from '../deps.ts';
import { DomainError, notFound } from '../errors.ts';
import { allows, requireOpen } from '../policy.ts';
import { readIn, writeIn } from './access.ts';
import { alreadyMember, join } from './members.ts';
import { auditInvitation } from './withdraw-invitations.ts';

const DAYS_VALID = 14;

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();

const invalid = () =>
  new DomainError(
    'INVITATION_INVALID',
    'This invitation cannot be used: it was used or withdrawn, or it has expired. Ask for a new one.',
  );

type Row = NonNullable<Awaited<ReturnType<typeof findInvitation>>>;

const toInvitation = (row: Row): Invitation => ({
  id: row.id,
  email: row.email,
  role: row.role,
  invitedBy: { id: row.invited_by, name: row.inviter },
  createdAt: isoOf(row.created_at),
  expiresAt: isoOf(row.expires_at),
});

export function invitationUseCases(kit: Kit, workspace: Core['workspaces']): Core['invitations'] {
  const { mysql, command } = kit;

  return {
    async list(actor, { workspaceId, limit, cursor }) {
      const after = decodeCursor('invitations.list', ['time', 'id'], cursor);
      await readIn(mysql, actor, workspaceId, 'members.manage');
      const rows = await listInvitations(
        mysql.db,
        workspaceId,
        limit + 1,
        after && { createdAt: after[0], id: after[1] },
      );
      return pageOf(rows, limit, toInvitation, (row) =>
        encodeCursor('invitations.list', [row.created_at, row.id]),
      );
    },
    async create(actor, { workspaceId, email, role }) {
      const id = newId();
      const token = randomBytes(32).toString('base64url');
      const expires = new Date(Date.now() + DAYS_VALID * 86_400_000)
        .toISOString()
        .slice(0, 23)
        .replace('T', ' ');
      await command(async (trx) => {
        await writeIn(trx, actor, workspaceId, 'members.manage');
        const user = await findUserByEmail(trx, email);
        if (user && (await findMember(trx, workspaceId, user.id))) throw alreadyMember();
        await closeExpired(trx, workspaceId, email);
        try {
          await trx
            .insertInto('invitation')
            .values({
              id,
              workspace_id: workspaceId,
              email,
              role,
              token_hash: hashOf(token),
              invited_by: actor.userId,
              expires_at: expires,
            })
            .execute();
        } catch (error) {
          if (!isDuplicate(error, 'invitation_open')) throw error;
          throw new DomainError(
            'INVITATION_EXISTS',
            'This address has an open invitation already. Withdraw it to send a new one.',
          );
        }
        await auditInvitation(trx, actor, 'created', workspaceId, id, { email, role });
      });
      const row = await afterCommit(findInvitation(mysql.db, workspaceId, id));
      if (!row) throw notFound('invitation');
      return { ...toInvitation(row), token };
    },
    async revoke(actor, { workspaceId, id }) {
      await command(async (trx) => {
        await writeIn(trx, actor, workspaceId, 'members.manage');
        if (!(await closeInvitation(trx, workspaceId, id, null))) throw notFound('invitation');
        await auditInvitation(trx, actor, 'revoked', workspaceId, id);
      });
      return { revoked: true };
    },
    async accept(actor, { token }) {
      const workspaceId = await command(async (trx) => {
        const sent = await findInvitationByToken(trx, hashOf(token));
        // Memberships are locked before invitations, the order in which removals of members lock too.
        const inviter = sent && (await lockAccess(trx, sent.workspace_id, sent.invited_by));
        const invitation = await lockInvitationByToken(trx, hashOf(token));
        if (!invitation || !inviter || !allows(inviter.role, 'members.manage')) throw invalid();
        const me = await findUser(trx, actor.userId);
        if (me?.email !== invitation.email) {
          throw new DomainError(
            'INVITATION_OTHER_PERSON',
            'This invitation is for another e-mail address. Sign in with the address it was sent to.',
          );
        }
        requireOpen(inviter.archived_at);
        const seat = await lockSeat(trx, invitation.workspace_id, actor.userId);
        await closeInvitation(trx, invitation.workspace_id, invitation.id, actor.userId);
        // Added by hand in the meantime: the invitation is used up, the role they have stays.
        if (seat.removed_at !== null) {
          await join(kit, trx, actor, {
            workspaceId: invitation.workspace_id,
            userId: actor.userId,
            role: invitation.role,
          });
        }
        await auditInvitation(trx, actor, 'accepted', invitation.workspace_id, invitation.id);
        return invitation.workspace_id;
      });
      return await afterCommit(workspace.get(actor, { id: workspaceId }));
    },
  };
}
