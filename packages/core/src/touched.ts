import type { Scope, Touch } from '@sparkroom/mysql';

/** The parts of an event that say what it changed: a fact of a command, or an event of the stream. */
export interface Change {
  type: string;
  aggregateId: string;
  workspaceId: string | null;
  /** Whose rating or idea it is; the member's, where a membership changed. */
  userId: string | null;
}

/**
 * The collections that a change is counted in: in its own transaction, and again wherever its event is heard. The
 * lists of all members of a workspace or client that is renamed or archived are counted by the use case itself.
 */
export function touchedBy({ type, aggregateId, workspaceId, userId }: Change): Touch[] {
  const touches: Touch[] = [];
  const add = (scope: Scope, id: string | null) => {
    if (id !== null) touches.push({ scope, id, part: aggregateId });
  };
  const own = workspaceId === null || userId === null ? null : `${workspaceId}:${userId}`;
  switch (type.slice(0, type.indexOf('.'))) {
    case 'idea':
      if (type === 'idea.bodyStored') break;
      add(type === 'idea.rated' || type === 'idea.unrated' ? 'rated' : 'room', workspaceId);
      add('own', own);
      break;
    case 'membership':
      add('room', workspaceId);
      add('user', userId);
      break;
  }
  return touches;
}
