import type { Workspace } from '@sparkroom/contract';
import { useQuery } from '@tanstack/react-query';
import { useOutletContext } from 'react-router';
import { trpc } from '../api/client.ts';

/** One workspace with what I may do in it; nothing is asked while `id` is empty. */
export const useWorkspaceQuery = (id: string) =>
  useQuery(trpc.workspaces.get.queryOptions({ id }, { enabled: id !== '' }));

/** The workspace of the page around a tab. */
export const useWorkspace = (): Workspace => useOutletContext<Workspace>();
