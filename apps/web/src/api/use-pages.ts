import type { WorkspaceSummary } from '@sparkroom/contract';
import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { trpc } from './client.ts';

/** Items of all pages in one list. */
export function flat<T>(data: InfiniteData<{ items: T[] }, unknown> | undefined): T[] {
  return data?.pages.flatMap((page) => page.items) ?? [];
}

/** Loads page after page while there are more and they are wanted: for short lists that are chosen from. */
function useEveryPage(
  query: {
    hasNextPage: boolean;
    isFetching: boolean;
    isError: boolean;
    fetchNextPage: () => unknown;
  },
  wanted = true,
): void {
  const { hasNextPage, isFetching, isError, fetchNextPage } = query;
  useEffect(() => {
    if (wanted && hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [wanted, hasNextPage, isFetching, isError, fetchNextPage]);
}

const getNextPageParam = (page: { nextCursor: string | null }) => page.nextCursor;

/** All my workspaces, by client and name. */
export function useMyWorkspaces(archived = false) {
  const query = useInfiniteQuery(
    trpc.workspaces.list.infiniteQueryOptions({ limit: 100, archived }, { getNextPageParam }),
  );
  useEveryPage(query);
  return { ...query, workspaces: flat(query.data) };
}

/** All clients that I may open a workspace for. */
export function useMyClients() {
  const query = useInfiniteQuery(
    trpc.clients.list.infiniteQueryOptions({ limit: 100 }, { getNextPageParam }),
  );
  useEveryPage(query);
  return { ...query, clients: flat(query.data) };
}

/**
 * Clients in use, or archived ones, that I may see: loaded as far as it takes to know those of these workspaces, for a
 * platform admin sees thousands.
 */
export function useClientsOf(workspaces: readonly WorkspaceSummary[], archived: boolean) {
  const query = useInfiniteQuery(
    trpc.clients.list.infiniteQueryOptions({ limit: 100, archived }, { getNextPageParam }),
  );
  const clients = flat(query.data);
  const known = new Set(clients.map((c) => c.id));
  // An archived workspace may belong to a client in use, for which one would look in vain.
  useEveryPage(query, !archived && workspaces.some((w) => !known.has(w.client.id)));
  return { ...query, clients };
}

/** All members of a workspace, strongest role first. */
export function useMembers(workspaceId: string) {
  const query = useInfiniteQuery(
    trpc.members.list.infiniteQueryOptions({ workspaceId, limit: 100 }, { getNextPageParam }),
  );
  useEveryPage(query);
  return { ...query, members: flat(query.data) };
}
