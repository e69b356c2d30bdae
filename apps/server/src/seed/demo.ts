import { clients, type IdeaContent, people, type WorkspaceContent } from './content/index.ts';
import { addAudit, addGuidance, addIdea, pathTo } from './idea-life.ts';
import { Random, starsFor } from './random.ts';
import { append, type Chunk, day, emptyChunk, hour, sqlTime } from './rows.ts';

/** Ids come from here, so that they do not depend on the day of seeding. */
const epoch = Date.UTC(2026, 0, 1);
const started = 120 * day;

/** Address by which the demo is found again. */
export const demoEmail = 'user0@sparkroom.example';

/**
 * The demo: six clients, twelve workspaces, twenty people, two hundred ideas.
 * @param seed same number, same ids and same data
 * @param now milliseconds since 1970; the demo's last four months end here
 */
export function demo(seed: number, now: number): Chunk {
  const chunk = emptyChunk();
  const random = new Random(`${seed}/demo`);
  const id = (offset: number): string => random.ulid(epoch + offset);
  const from = now - started;

  const ids = new Map<string, string>();
  for (const [key, person] of Object.entries(people)) {
    const at = sqlTime(from - random.int(1, 20) * hour);
    ids.set(key, id(0));
    chunk.user.push({
      id: idOf(ids, key),
      name: person.name,
      email: person.email,
      email_verified: true,
      image: null,
      role: person.role,
      locale: null,
      event_version: 1,
      announced_at: at,
      created_at: at,
      updated_at: at,
    });
  }

  for (const content of clients) {
    const clientId = id(1000);
    const opener = owner(content.workspaces[0] as WorkspaceContent);
    const openedAt = from + random.int(0, 3) * hour;
    const at = sqlTime(openedAt);
    chunk.client.push({
      id: clientId,
      name: content.name,
      created_by: idOf(ids, opener),
      archived_at: null,
      created_at: at,
      updated_at: at,
    });
    addAudit(chunk, {
      actorId: idOf(ids, opener),
      action: 'client.created',
      targetId: clientId,
      workspaceId: null,
      at: openedAt,
      detail: { name: content.name },
    });
    for (const workspace of content.workspaces)
      append(chunk, workspaceRows(workspace, clientId, ids, random, from, now));
  }
  chunk.audit.sort((a, b) => (a.created_at < b.created_at ? -1 : a.created_at > b.created_at ? 1 : 0));
  return chunk;
}

const owner = (workspace: WorkspaceContent): string => {
  const found = Object.entries(workspace.members).find(([, role]) => role === 'owner');
  if (!found) throw new Error(`${workspace.name} has no owner`);
  return found[0];
};

function idOf(ids: ReadonlyMap<string, string>, person: string): string {
  const found = ids.get(person);
  if (found === undefined) throw new Error(`There is no person called ${person}`);
  return found;
}

function workspaceRows(
  content: WorkspaceContent,
  clientId: string,
  ids: ReadonlyMap<string, string>,
  random: Random,
  from: number,
  now: number,
): Chunk {
  const chunk = emptyChunk();
  const openedAt = from + random.int(4, 60) * hour;
  const workspaceId = random.ulid(epoch + openedAt - from);
  const ownerId = idOf(ids, owner(content));
  const audit = (action: string, at: number, targetId: string, detail: Record<string, unknown>): void =>
    addAudit(chunk, { actorId: ownerId, action, targetId, workspaceId, at, detail });
  chunk.workspace.push({
    id: workspaceId,
    client_id: clientId,
    name: content.name,
    description: content.description,
    created_by: ownerId,
    archived_at: null,
    created_at: sqlTime(openedAt),
    updated_at: sqlTime(openedAt),
  });
  audit('workspace.created', openedAt, workspaceId, { name: content.name, clientId });
  for (const [i, [person, role]] of Object.entries(content.members).entries()) {
    const at = i === 0 ? openedAt : openedAt + random.int(1, 30) * hour;
    const userId = idOf(ids, person);
    chunk.membership.push({
      workspace_id: workspaceId,
      user_id: userId,
      role,
      removed_at: null,
      created_at: sqlTime(at),
    });
    audit('membership.added', at, `${workspaceId}:${userId}`, { userId, role });
  }

  const begin = openedAt + 2 * day;
  const step = (now - 3 * hour - begin) / content.ideas.length;
  for (const [i, idea] of content.ideas.entries()) {
    const createdAt = begin + (i + random.next()) * step;
    addIdea(chunk, lifeOf(idea, content, { workspaceId, ids, random, from, createdAt, now }), true);
  }
  for (const [i, guidance] of content.guidance.entries()) {
    const at = openedAt + (2 + 9 * i) * day - random.int(1, 20) * hour;
    addGuidance(chunk, {
      id: random.ulid(epoch + at - from),
      workspaceId,
      authorId: idOf(ids, guidance.by),
      title: guidance.title,
      text: guidance.text,
      at,
    });
  }
  return chunk;
}

function lifeOf(
  idea: IdeaContent,
  workspace: WorkspaceContent,
  at: {
    workspaceId: string;
    ids: ReadonlyMap<string, string>;
    random: Random;
    from: number;
    createdAt: number;
    now: number;
  },
) {
  const { random, ids, createdAt, now } = at;
  const status = idea.status ?? 'open';
  // Everything that happened to it fits between its posting and now.
  const room = Math.min(12 * day, now - createdAt);
  const moment = (share: number): number => createdAt + room * share;
  const raters =
    status === 'draft' || idea.unrated
      ? []
      : Object.entries(workspace.members).filter(([, role]) => role !== 'viewer');
  // Colleagues get round to it: the older an idea, the more of them have rated it.
  const coverage = 0.35 + 0.5 * Math.min(1, (now - createdAt) / (30 * day));
  const ratings = raters.flatMap(([person]) => {
    const isAuthor = person === idea.by;
    const temper = people[person]?.temper ?? 0;
    const stars = isAuthor ? random.int(4, 5) : starsFor(random, idea.worth, temper * 0.7);
    const when = moment(0.05 + 0.5 * random.next());
    return random.chance(isAuthor ? 0.12 : coverage) ? [{ userId: idOf(ids, person), stars, at: when }] : [];
  });
  return {
    id: random.ulid(epoch + createdAt - at.from),
    workspaceId: at.workspaceId,
    authorId: idOf(ids, idea.by),
    title: idea.title,
    text: idea.text,
    tags: idea.tags ?? [],
    createdAt,
    ...(idea.before ? { revision: { before: idea.before, at: moment(0.03) } } : {}),
    status,
    reason: idea.reason ?? null,
    deciderId: idOf(ids, owner(workspace)),
    stepsAt: pathTo(status).map((_, i) => moment(0.6 + 0.3 * i)),
    ratings,
  };
}
