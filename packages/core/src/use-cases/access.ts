import type { Role } from '@sparkroom/contract';
import { findWorkspace, lockAccess, type Mysql, type Trx, type WorkspaceRow } from '@sparkroom/mysql';
import type { Actor } from '../core.ts';
import { requireOpen, requireRole, type WorkspaceAction } from '../policy.ts';

type What = 'workspace' | 'idea' | 'guidance';

/** For reading: the workspace and the actor's role in it, if the action is allowed. */
export async function readIn(
  mysql: Mysql,
  actor: Actor,
  workspaceId: string,
  action: WorkspaceAction = 'workspace.read',
): Promise<{ workspace: WorkspaceRow; role: Role; open: boolean }> {
  const workspace = await findWorkspace(mysql.db, workspaceId, actor.userId);
  const role = workspace?.role;
  requireRole(role, action);
  return { workspace: workspace as WorkspaceRow, role, open: workspace?.archived_at === null };
}

/** For changing: the actor's role in a workspace that is not archived; both stay so until the transaction ends. */
export async function writeIn(
  trx: Trx,
  actor: Actor,
  workspaceId: string,
  action: WorkspaceAction,
  what: What = 'workspace',
): Promise<Role> {
  const access = await lockAccess(trx, workspaceId, actor.userId);
  const role = access?.role;
  requireRole(role, action, what);
  requireOpen(access?.archived_at ?? null);
  return role;
}
