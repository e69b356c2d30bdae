import type { IdeaStatus } from '@sparkroom/contract';
import { excerptOf } from '@sparkroom/core';
import { type Chunk, sqlTime } from './rows.ts';

export interface IdeaLife {
  id: string;
  workspaceId: string;
  authorId: string;
  title: string;
  text: string;
  tags: readonly string[];
  createdAt: number;
  /** The text it was posted with, when the author changed it later. */
  revision?: { before: string; at: number };
  status: IdeaStatus;
  /** Given with the last change of status. */
  reason: string | null;
  /** Who decides on ideas here. */
  deciderId: string;
  /** Times of the changes of status, one for each step of {@link pathTo}. */
  stepsAt: readonly number[];
  ratings: ReadonlyArray<{ userId: string; stars: number; at: number }>;
}

/** Changes of status that lead to one, from the status an idea was posted with. */
export function pathTo(status: IdeaStatus): IdeaStatus[] {
  if (status === 'draft' || status === 'open') return [];
  return status === 'accepted' ? ['shortlisted', 'accepted'] : [status];
}

/** Adds the line of activity that a use case writes beside its event; the target is the part of `action` before the dot. */
export function addAudit(
  chunk: Chunk,
  entry: {
    actorId: string;
    action: string;
    targetId: string;
    workspaceId: string | null;
    at: number;
    detail: Record<string, unknown>;
    private?: boolean;
  },
): void {
  chunk.audit.push({
    actor_id: entry.actorId,
    action: entry.action,
    target_type: entry.action.slice(0, entry.action.indexOf('.')),
    target_id: entry.targetId,
    workspace_id: entry.workspaceId,
    private: entry.private ?? false,
    detail: JSON.stringify(entry.detail),
    request_id: null,
    created_at: sqlTime(entry.at),
  });
}

/**
 * Adds the rows that posting, revising, deciding on and rating an idea would have left, its texts projected into the
 * document store already. No outbox rows: nobody has anything left to do about these events.
 */
export function addIdea(chunk: Chunk, life: IdeaLife, withAudit: boolean): void {
  const { id, workspaceId, authorId } = life;
  const path = pathTo(life.status);
  let version = 0;
  let bodyVersion = 0;
  let changedAt = life.createdAt;
  let status: IdeaStatus = life.status === 'draft' ? 'draft' : 'open';

  const change = (
    kind: 'created' | 'revised' | 'statusChanged',
    at: number,
    editor: string,
    text: string | null,
    detail: Record<string, unknown>,
  ): void => {
    version++;
    changedAt = at;
    if (text !== null) {
      bodyVersion = version;
      chunk.bodies.push({ id, type: 'idea', workspaceId, version, body: { text } });
    }
    chunk.idea_revision.push({
      idea_id: id,
      version,
      kind,
      title: life.title,
      status,
      reason: kind === 'statusChanged' ? ((detail.reason as string | undefined) ?? null) : null,
      has_body: text !== null,
      editor_id: editor,
      created_at: sqlTime(at),
    });
    if (withAudit) {
      addAudit(chunk, {
        actorId: editor,
        action: `idea.${kind}`,
        targetId: id,
        workspaceId,
        at,
        detail,
        private: status === 'draft',
      });
    }
  };

  change('created', life.createdAt, authorId, life.revision?.before ?? life.text, {
    title: life.title,
    status,
    authorId,
    bodyVersion: 1,
  });
  if (life.revision)
    change('revised', life.revision.at, authorId, life.text, {
      title: life.title,
      status,
      bodyVersion: 2,
    });
  for (const [i, next] of path.entries()) {
    const from = status;
    status = next;
    const isLast = i === path.length - 1;
    change('statusChanged', life.stepsAt[i] ?? changedAt, life.deciderId, null, {
      from,
      to: next,
      reason: isLast ? life.reason : null,
    });
  }

  let count = 0;
  let sum = 0;
  let squares = 0;
  let activeAt = changedAt;
  for (const { userId, stars, at } of life.ratings.toSorted((a, b) => a.at - b.at)) {
    const counted = userId !== authorId;
    if (counted) {
      count++;
      sum += stars;
      squares += stars * stars;
    }
    activeAt = Math.max(activeAt, at);
    chunk.rating.push({
      idea_id: id,
      user_id: userId,
      stars,
      counted,
      idea_version: bodyVersion,
      created_at: sqlTime(at),
      updated_at: sqlTime(at),
    });
    if (withAudit) {
      const detail = { userId, raters: count, first: true };
      addAudit(chunk, { actorId: userId, action: 'idea.rated', targetId: id, workspaceId, at, detail });
    }
  }

  const stored = life.revision ? 2 : 1;
  chunk.idea.push({
    id,
    workspace_id: workspaceId,
    author_id: authorId,
    status,
    status_reason: path.length > 0 ? life.reason : null,
    title: life.title,
    excerpt: excerptOf(life.text),
    tags: JSON.stringify(life.tags),
    version,
    body_version: bodyVersion,
    stored_version: bodyVersion,
    // One event for each change, each text stored and each rating.
    event_version: version + stored + life.ratings.length,
    rating_count: count,
    rating_sum: sum,
    rating_sumsq: squares,
    active_at: sqlTime(activeAt),
    removed_at: null,
    created_at: sqlTime(life.createdAt),
    updated_at: sqlTime(changedAt),
  });
}

/** Adds guidance as publishing it would have left it, with its activity. */
export function addGuidance(
  chunk: Chunk,
  item: { id: string; workspaceId: string; authorId: string; title: string; text: string; at: number },
): void {
  const { id, workspaceId, authorId, title, text } = item;
  const at = sqlTime(item.at);
  chunk.guidance.push({
    id,
    workspace_id: workspaceId,
    author_id: authorId,
    title,
    excerpt: excerptOf(text),
    version: 1,
    body_version: 1,
    stored_version: 1,
    event_version: 2,
    removed_at: null,
    created_at: at,
    updated_at: at,
  });
  chunk.bodies.push({ id, type: 'guidance', workspaceId, version: 1, body: { text } });
  addAudit(chunk, {
    actorId: authorId,
    action: 'guidance.published',
    targetId: id,
    workspaceId,
    at: item.at,
    detail: { title, bodyVersion: 1 },
  });
}
