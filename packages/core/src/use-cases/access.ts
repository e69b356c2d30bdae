import type { Role } from '@sparkroom/contract';
import {
  findRoom,
  lockAccess,
  type Mysql,
  type RoomVersions,
  type Trx,
  versionsOf,
  type WorkspaceRow,
} from '@sparkroom/mysql';
import type { Actor } from '../core.ts';
import { requireOpen, requireRole, type WorkspaceAction } from '../policy.ts';

type What = 'workspace' | 'idea' | 'guidance';

/**
 * For reading: the workspace and the actor's role in it, if the action is allowed, always from the database; and the
 * versions of the workspace's collections at that moment, which is how new a cached list must be at least.
 */
export async function readIn(
  mysql: Mysql,
  actor: Actor,
  workspaceId: string,
  action: WorkspaceAction = 'workspace.read',
): Promise<{ workspace: WorkspaceRow; role: Role; open: boolean; versions: RoomVersions }> {
  const found = await findRoom(mysql.db, workspaceId, actor.userId);
  const role = found?.workspace.role;
  requireRole(role, action);
  const { workspace, versions } = found as NonNullable<typeof found>;
  return { workspace, role, open: workspace.archived_at === null, versions };
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

/** How new the actor's own lists must be at least: as the host read it with the session, or as it is now. */
export async function listsVersion(mysql: Mysql, actor: Actor): Promise<number> {
  if (actor.listsVersion !== undefined) return actor.listsVersion;
  return (await versionsOf(mysql.db, 'user', [actor.userId])).get(actor.userId) ?? 0;
}
