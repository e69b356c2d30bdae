import { queryClient, trpc } from '../api/client.ts';

/** Reads clients again, and the workspaces that carry their names. */
export async function refreshClients(): Promise<void> {
  await Promise.all([
    queryClient.invalidateQueries({ queryKey: trpc.clients.pathKey() }),
    queryClient.invalidateQueries({ queryKey: trpc.workspaces.pathKey() }),
  ]);
}
