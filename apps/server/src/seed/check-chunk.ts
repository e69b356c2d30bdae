import type { Chunk } from './rows.ts';

/**
 * What the tables promise about each other and no constraint of theirs checks. Used by tests on generated data and on
 * what came back from the database.
 * @returns a sentence for each promise broken; none when all hold
 */
export function faultsOf(chunk: Omit<Chunk, 'bodies'>, texts: ReadonlySet<string>): string[] {
  const faults: string[] = [];
  const roles = new Map(chunk.membership.map((m) => [`${m.workspace_id} ${m.user_id}`, m.role]));
  const revisions = Map.groupBy(chunk.idea_revision, (r) => r.idea_id);
  const ratings = Map.groupBy(chunk.rating, (r) => r.idea_id);
  const owned = new Set(chunk.membership.filter((m) => m.role === 'owner').map((m) => m.workspace_id));
  for (const { id, name } of chunk.workspace) if (!owned.has(id)) faults.push(`${name} has no owner`);

  for (const idea of chunk.idea) {
    const say = (what: string) => faults.push(`${idea.title}: ${what}`);
    const authorRole = roles.get(`${idea.workspace_id} ${idea.author_id}`);
    if (authorRole === undefined || authorRole === 'viewer') say('its author may not post here');
    if (idea.stored_version !== idea.body_version) say('its text is not stored');
    if (!texts.has(`${idea.id} ${idea.body_version}`)) say('the document store has another version');

    const history = revisions.get(idea.id) ?? [];
    if (history.map((r) => r.version).join() !== Array.from({ length: idea.version }, (_, i) => i + 1).join())
      say('its versions have gaps');
    const last = history.at(-1);
    if (last?.status !== idea.status || last.title !== idea.title) say('its last version differs from it');
    if (last?.kind === 'statusChanged' && last.reason !== idea.status_reason)
      say('its reason is another one');
    if (idea.status === 'declined' && idea.status_reason === null) say('declined without a reason');
    const withText = history.filter((r) => r.has_body).map((r) => r.version);
    if (withText.at(-1) !== idea.body_version) say('its body version is not its last text');

    const all = ratings.get(idea.id) ?? [];
    const counted = all.filter((r) => r.counted);
    const sum = (of: (stars: number) => number) => counted.reduce((total, r) => total + of(r.stars), 0);
    if (idea.rating_count !== counted.length) say('its count of ratings is wrong');
    if (idea.rating_sum !== sum((stars) => stars)) say('its sum of ratings is wrong');
    if (idea.rating_sumsq !== sum((stars) => stars * stars)) say('its sum of squares is wrong');
    if (new Set(all.map((r) => r.user_id)).size !== all.length) say('somebody rated it twice');
    if (idea.status === 'draft' && all.length > 0) say('a draft with ratings');
    for (const rating of all) {
      const role = roles.get(`${idea.workspace_id} ${rating.user_id}`);
      if (role === undefined || role === 'viewer') say('rated by somebody who may not');
      if (rating.counted !== (rating.user_id !== idea.author_id)) say('counts the wrong ratings');
      if (rating.idea_version !== idea.body_version) say('a rating is of another text');
      if (rating.created_at < idea.created_at) say('rated before it was posted');
      if (rating.created_at > idea.active_at) say('rated after its last activity');
    }
    if (idea.event_version !== idea.version + withText.length + all.length) say('its event version is wrong');
    if (idea.updated_at > idea.active_at || idea.created_at > idea.updated_at)
      say('its times are in disorder');
  }
  for (const item of chunk.guidance) {
    const role = roles.get(`${item.workspace_id} ${item.author_id}`);
    if (role !== 'owner' && role !== 'editor')
      faults.push(`${item.title}: its author may not write guidance`);
    if (!texts.has(`${item.id} ${item.body_version}`)) faults.push(`${item.title}: its text is not stored`);
  }
  return faults;
}

/** Newest version of each text of a chunk, as the document store will have it: `<id> <version>`. */
export const textsOf = (chunk: Chunk): Set<string> =>
  new Set(
    [...Map.groupBy(chunk.bodies, (b) => b.id)].map(
      ([id, versions]) => `${id} ${Math.max(...versions.map((v) => v.version))}`,
    ),
  );
