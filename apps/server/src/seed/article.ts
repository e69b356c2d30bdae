import type { IdeaStatus, Role } from '@sparkroom/contract';
import { articleClientName, articlePersonName, articleText, articleWorkspaceName } from './article-words.ts';
import { addIdea, pathTo } from './idea-life.ts';
import { apportion, Random, starsFor } from './random.ts';
import { type Chunk, day, emptyChunk, sqlTime } from './rows.ts';

export interface ArticleSizes {
  clients: number;
  workspaces: number;
  users: number;
  ideas: number;
  ratings: number;
}

/** The figures of the two stories that the product is measured against. */
export const articleSizes: ArticleSizes = {
  clients: 7000,
  workspaces: 3000,
  users: 2000,
  ideas: 60_000,
  ratings: 600_000,
};

/** Members of a workspace on average. */
const meanMembers = 10;
/** The data ends here; fixed, so that the same seed gives the same times on any day. */
const end = Date.UTC(2026, 10, 1);
const span = 700 * day;

const statuses: Record<IdeaStatus, number> = {
  draft: 5,
  open: 62,
  shortlisted: 12,
  accepted: 7,
  declined: 9,
  archived: 5,
};

export interface Article {
  readonly sizes: ArticleSizes;
  /** Id and address of a person, by number from 0. */
  userId(i: number): string;
  /** People and clients: stored first. */
  base(): Chunk;
  workspaceId(i: number): string;
  /** Everything inside one workspace, by number from 0; independent of every other. */
  workspace(i: number): Chunk;
}

/**
 * Data at the size of the article: workspaces of very different sizes (10 members on average, most people in several),
 * more ideas where there are more people, raters harsh and generous.
 * @param seed same number, same data
 * @throws Error when the people of the workspaces cannot give so many ratings
 */
export function article(seed: number, sizes: ArticleSizes = articleSizes): Article {
  const random = (part: string, i: number): Random => new Random(`${seed}/article/${part}/${i}`);
  const all = random('plan', 0);
  const userIds = Array.from({ length: sizes.users }, () => all.ulid(end - span));
  const clientIds = Array.from({ length: sizes.clients }, () => all.ulid(end - span));
  const tempers = userIds.map(() => all.normal(0, 0.5));
  const workspaces = Array.from({ length: sizes.workspaces }, (_, i) => {
    const openedAt = end - span + Math.floor(all.next() * (span - 60 * day));
    // Log-normal around the mean: many small rooms, a few with dozens of people.
    const size = Math.round(Math.exp(all.normal(Math.log(meanMembers) - 0.21, 0.65)));
    const memberCount = Math.max(3, Math.min(50, sizes.users, size));
    const members = all.sample(userIds.keys().toArray(), memberCount).map((user, rank) => ({
      user,
      role: roleOf(all, rank),
    }));
    return { number: i, id: all.ulid(openedAt), clientId: all.pick(clientIds), openedAt, members };
  });
  const ideaCounts = apportion(
    sizes.ideas,
    workspaces.map((w) => w.members.length),
  );
  // Ratings are shared out by how many could be given: every rater once on every idea that is no draft.
  const ideaStatuses = workspaces.map((w) => {
    const own = random('status', w.number);
    return Array.from({ length: ideaCounts[w.number] ?? 0 }, () => own.weighted(statuses));
  });
  const capacities = workspaces.map(
    (w) =>
      w.members.filter((m) => m.role !== 'viewer').length *
      (ideaStatuses[w.number] ?? []).filter((s) => s !== 'draft').length,
  );
  const ratingCounts = apportion(sizes.ratings, capacities, capacities);

  return {
    sizes,
    userId: (i) => at(userIds, i),
    workspaceId: (i) => at(workspaces, i).id,
    base() {
      const chunk = emptyChunk();
      const created = sqlTime(end - span);
      const own = random('base', 0);
      for (const [i, id] of userIds.entries()) {
        chunk.user.push({
          id,
          name: articlePersonName(own),
          email: `person${i}@article.sparkroom.example`,
          email_verified: true,
          image: null,
          role: 'user',
          locale: null,
          event_version: 1,
          announced_at: created,
          created_at: created,
          updated_at: created,
        });
      }
      for (const [i, id] of clientIds.entries()) {
        chunk.client.push({
          id,
          name: articleClientName(i),
          created_by: own.pick(userIds),
          archived_at: null,
          created_at: created,
          updated_at: created,
        });
      }
      return chunk;
    },
    workspace(i) {
      const chunk = emptyChunk();
      const { id, clientId, openedAt, members } = at(workspaces, i);
      const own = random('workspace', i);
      const ownerId = at(userIds, at(members, 0).user);
      const opened = sqlTime(openedAt);
      chunk.workspace.push({
        id,
        client_id: clientId,
        name: articleWorkspaceName(own),
        description: '',
        created_by: ownerId,
        archived_at: null,
        created_at: opened,
        updated_at: opened,
      });
      for (const { user, role } of members) {
        chunk.membership.push({
          workspace_id: id,
          user_id: at(userIds, user),
          role,
          removed_at: null,
          created_at: opened,
        });
      }
      const raters = members.filter((m) => m.role !== 'viewer');
      const ideas = (ideaStatuses[i] ?? []).map((status) => ({
        status,
        author: own.pick(raters),
        worth: own.normal(3.1, 0.7),
        createdAt: openedAt + day + own.next() * (end - openedAt - 2 * day),
      }));
      const pairs = ideas.flatMap(({ status }, idea) =>
        status === 'draft' ? [] : raters.map((rater) => ({ idea, rater })),
      );
      const given = Map.groupBy(own.sample(pairs, ratingCounts[i] ?? 0), (pair) => pair.idea);
      for (const [n, { status, author, worth, createdAt }] of ideas.entries()) {
        const room = Math.min(20 * day, end - createdAt);
        const words = articleText(own);
        addIdea(
          chunk,
          {
            id: own.ulid(createdAt),
            workspaceId: id,
            authorId: at(userIds, author.user),
            ...words,
            createdAt,
            status,
            reason: status === 'declined' ? words.reason : null,
            deciderId: ownerId,
            stepsAt: pathTo(status).map((_, step) => createdAt + room * (0.6 + 0.3 * step)),
            ratings: (given.get(n) ?? []).map(({ rater }) => ({
              userId: at(userIds, rater.user),
              stars: starsFor(own, worth, at(tempers, rater.user)),
              at: createdAt + room * 0.5 * own.next(),
            })),
          },
          false,
        );
      }
      return chunk;
    },
  };
}

function roleOf(random: Random, rank: number): Role {
  // The first opened the workspace; two of them may rate at least.
  if (rank === 0) return 'owner';
  if (rank === 1) return 'member';
  return random.weighted({ owner: 4, editor: 15, member: 73, viewer: 8 });
}

function at<T>(items: readonly T[], i: number): T {
  const item = items[i];
  if (item === undefined) throw new RangeError(`There is no number ${i} of ${items.length}`);
  return item;
}
