import type { WorkspaceSummary } from '@sparkroom/contract';

export interface ClientGroup {
  id: string;
  name: string;
  workspaces: WorkspaceSummary[];
}

/** Workspaces under their clients, in the order given, in one pass. */
export function byClient(workspaces: readonly WorkspaceSummary[]): ClientGroup[] {
  const groups = new Map<string, ClientGroup>();
  for (const workspace of workspaces) {
    const { id, name } = workspace.client;
    const group = groups.get(id) ?? { id, name, workspaces: [] };
    group.workspaces.push(workspace);
    groups.set(id, group);
  }
  return [...groups.values()];
}
