import type { Client, WorkspaceSummary } from '@sparkroom/contract';
import { byClient, type ClientGroup } from '../workspace/by-client.ts';

/** A client on the start page; `client` is known when the asking person may change it. */
export type HomeGroup = ClientGroup & { client: Client | null };

/**
 * The workspaces under their clients, in the order given; then the clients of this person's own without any workspace
 * here: they could not be renamed, archived or brought back otherwise.
 */
export function homeGroups(workspaces: readonly WorkspaceSummary[], clients: readonly Client[]): HomeGroup[] {
  const own = new Map(clients.filter((c) => c.mayEdit).map((c) => [c.id, c]));
  const groups = byClient(workspaces).map((group) => {
    const client = own.get(group.id) ?? null;
    own.delete(group.id);
    return { ...group, client };
  });
  const rest = [...own.values()].map((client) => ({
    id: client.id,
    name: client.name,
    workspaces: [],
    client,
  }));
  return [...groups, ...rest];
}
