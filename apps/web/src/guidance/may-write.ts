import type { Workspace } from '@sparkroom/contract';

/** Owners and editors write guidance, in workspaces that are not archived. The server decides; this hides the button. */
export function mayWriteGuidance(workspace: Pick<Workspace, 'role' | 'archivedAt'>): boolean {
  return workspace.archivedAt === null && (workspace.role === 'owner' || workspace.role === 'editor');
}
