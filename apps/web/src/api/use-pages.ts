import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { trpc } from './client.ts';

/** Items of all pages in one list. */
export function flat<T>(data: InfiniteData<{ items: T[] }, unknown> | undefined): T[] {
  return data?.pages.flatMap((page) => page.items) ?? [];
}

/** Loads page after page while there are more: for short lists that are chosen from. */
function useEveryPage(query: {
  hasNextPage: boolean;
  isFetching: boolean;
  isError: boolean;
  fetchNextPage: () => unknown;
}): void {
  const { hasNextPage, isFetching, isError, fetchNextPage } = query;
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [hasNextPage, isFetching, isError, fetchNextPage]);
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

/** All members of a workspace, strongest role first. */
export function useMembers(workspaceId: string) {
  const query = useInfiniteQuery(
    trpc.members.list.infiniteQueryOptions({ workspaceId, limit: 100 }, { getNextPageParam }),
  );
  useEveryPage(query);
  return { ...query, members: flat(query.data) };
}
