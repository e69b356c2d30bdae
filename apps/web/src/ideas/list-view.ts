import type { IdeaStatus } from '@sparkroom/contract';

export const SORTS = ['newest', 'oldest', 'active', 'title'] as const;
export const FILTERS = ['all', 'unrated', 'mine'] as const;
export const STATUSES = ['draft', 'open', 'shortlisted', 'accepted', 'declined', 'archived'] as const;

export interface ListView {
  sort: (typeof SORTS)[number];
  filter: (typeof FILTERS)[number];
  status: IdeaStatus | null;
}

const oneOf = <T extends string>(all: readonly T[], value: string | null): T | null =>
  all.find((v) => v === value) ?? null;

/** How the list is shown, from the address; unknown values are left out, so that old links still work. */
export function readView(query: URLSearchParams): ListView {
  return {
    sort: oneOf(SORTS, query.get('sort')) ?? 'newest',
    filter: oneOf(FILTERS, query.get('filter')) ?? 'all',
    status: oneOf(STATUSES, query.get('status')),
  };
}

/** The address of a view; what is usual is left out. */
export function writeView(view: ListView): Record<string, string> {
  return {
    ...(view.sort === 'newest' ? {} : { sort: view.sort }),
    ...(view.filter === 'all' ? {} : { filter: view.filter }),
    ...(view.status === null ? {} : { status: view.status }),
  };
}
