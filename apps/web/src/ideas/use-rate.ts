import type { IdeaSummary, Score } from '@sparkroom/contract';
import { useMutation } from '@tanstack/react-query';
import { client, queryClient, trpc } from '../api/client.ts';
import { cachedIdea, patchIdeas } from '../api/patch-ideas.ts';
import { notifyError } from '../shell/notify.ts';

/**
 * Rates an idea, or takes the rating back with null. Shown at once wherever the idea stands; put back, with a word,
 * when the server refuses. Quick changes of mind go out one after the other, and the last one stays.
 */
export function useRate(idea: Pick<IdeaSummary, 'id' | 'workspaceId' | 'myRating'>) {
  const { id, workspaceId } = idea;
  const rate = useMutation({
    scope: { id: `rate ${id}` },
    mutationFn: (stars: number | null): Promise<{ score: Score }> =>
      stars === null
        ? client.ratings.clear.mutate({ ideaId: id })
        : client.ratings.set.mutate({ ideaId: id, stars }),
    onMutate: (stars) => {
      const before = (cachedIdea(id) ?? idea).myRating;
      patchIdeas(id, () => ({ myRating: stars }));
      return { before };
    },
    onSuccess: ({ score }) => {
      patchIdeas(id, () => ({ score }));
      void queryClient.invalidateQueries({ queryKey: trpc.workspaces.get.queryKey({ id: workspaceId }) });
      void queryClient.invalidateQueries({ queryKey: trpc.ideas.ranking.pathKey() });
      void queryClient.invalidateQueries({ queryKey: trpc.me.contributions.pathKey() });
    },
    onError: (error, _stars, context) => {
      patchIdeas(id, () => ({ myRating: context?.before ?? null }));
      notifyError(error);
    },
  });
  return { rate: (stars: number) => rate.mutate(stars), clear: () => rate.mutate(null) };
}
