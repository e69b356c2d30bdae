import type { IdeaSummary } from '@sparkroom/contract';

/**
 * Whether to show the score beside the stars: after one has rated, where one cannot rate, and on one's own ideas.
 * Before that it would lead the eye; the ranking shows it to everybody.
 */
export function maySeeScore(
  idea: Pick<IdeaSummary, 'myRating' | 'mayRate' | 'author'>,
  meId: string,
): boolean {
  return idea.myRating !== null || !idea.mayRate || idea.author.id === meId;
}
