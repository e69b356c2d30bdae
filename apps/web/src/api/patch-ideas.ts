import type { IdeaSummary } from '@sparkroom/contract';
import { queryClient, trpc } from './client.ts';

type Change = (idea: IdeaSummary) => Partial<IdeaSummary>;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Applies `change` to the idea wherever `data` holds it: alone, in a page, or in pages of pages. */
export function patched(data: unknown, ideaId: string, change: Change): unknown {
  if (!isRecord(data)) return data;
  if (Array.isArray(data.pages)) return { ...data, pages: data.pages.map((p) => patched(p, ideaId, change)) };
  if (Array.isArray(data.items)) return { ...data, items: data.items.map((i) => patched(i, ideaId, change)) };
  if (data.id !== ideaId) return data;
  return { ...data, ...change(data as unknown as IdeaSummary) };
}

const lists = () => [trpc.ideas.list.pathKey(), trpc.ideas.get.pathKey(), trpc.ideas.ranking.pathKey()];

/** Changes an idea in every list and page that shows it, without moving it. */
export function patchIdeas(ideaId: string, change: Change): void {
  for (const queryKey of lists()) {
    queryClient.setQueriesData({ queryKey }, (data: unknown) => patched(data, ideaId, change));
  }
}

/** The idea as some list or page shows it now. */
export function cachedIdea(ideaId: string): IdeaSummary | null {
  let found: IdeaSummary | null = null;
  for (const queryKey of lists()) {
    for (const [, data] of queryClient.getQueriesData({ queryKey })) {
      patched(data, ideaId, (idea) => {
        found ??= idea;
        return {};
      });
    }
  }
  return found;
}
