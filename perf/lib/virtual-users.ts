import { createHmac, randomBytes } from 'node:crypto';
import type { Mysql } from '@sparkroom/mysql';

/** Somebody of the seeded data who is signed in. */
export interface VirtualUser {
  id: string;
  /** For `Authorization: Bearer`. */
  token: string;
  /** Workspaces they are in. */
  workspaces: string[];
  /** Ideas of others that they may rate now. */
  rateable: string[];
}

const mark = 'sparkroom-perf';

/**
 * Signs in `count` people, each with workspaces and ideas to rate, by writing their sessions as the auth library stores
 * them and signing the tokens with the server's secret (HMAC-SHA-256, base64, as better-auth's session cookie has it).
 * By way of the front door 160 sign-ins are 160 password hashes: a minute of processor time that no row is about.
 * The server checks these sessions exactly as it checks those it made itself.
 * @throws Error when the data has fewer such people
 */
export async function signInVirtualUsers(
  mysql: Mysql,
  secret: string,
  count: number,
): Promise<VirtualUser[]> {
  const { db } = mysql;
  const people = await db
    .selectFrom('user')
    .innerJoin('membership', 'membership.user_id', 'user.id')
    .select('user.id')
    .where('user.email', 'like', '%@article.sparkroom.example')
    .where('membership.removed_at', 'is', null)
    .where('membership.role', '<>', 'viewer')
    .groupBy('user.id')
    .having((eb) => eb.fn.countAll(), '>=', 5)
    .orderBy('user.id')
    .limit(count)
    .execute();
  if (people.length < count)
    throw new Error(`The data has only ${people.length} people for ${count} virtual users.`);
  const ids = people.map((person) => person.id);
  const memberships = await db
    .selectFrom('membership')
    .select(['user_id', 'workspace_id', 'role'])
    .where('user_id', 'in', ids)
    .where('removed_at', 'is', null)
    .orderBy('user_id')
    .orderBy('workspace_id')
    .execute();
  const ideas = await db
    .selectFrom('idea')
    .select(['id', 'workspace_id', 'author_id'])
    .where('workspace_id', 'in', [...new Set(memberships.map((m) => m.workspace_id))])
    .where('status', 'in', ['open', 'shortlisted'])
    .where('removed_at', 'is', null)
    .orderBy('id')
    .execute();
  const ideasByWorkspace = Map.groupBy(ideas, (idea) => idea.workspace_id);
  const membershipsByUser = Map.groupBy(memberships, (m) => m.user_id);

  const now = Date.now();
  const sessions = ids.map((userId) => ({
    id: randomBytes(16).toString('hex'),
    userId,
    token: randomBytes(24).toString('base64url').replaceAll('_', 'x').replaceAll('-', 'y'),
    expiresAt: datetime(now + 86_400_000),
    ipAddress: null,
    userAgent: mark,
    createdAt: datetime(now),
    updatedAt: datetime(now),
  }));
  await db.deleteFrom('session').where('userAgent', '=', mark).execute();
  await db.insertInto('session').values(sessions).execute();
  return sessions.map(({ userId, token }) => {
    const own = membershipsByUser.get(userId) ?? [];
    const signature = createHmac('sha256', secret).update(token).digest('base64');
    return {
      id: userId,
      token: encodeURIComponent(`${token}.${signature}`),
      workspaces: own.map((m) => m.workspace_id),
      rateable: own
        .filter((m) => m.role !== 'viewer')
        .flatMap((m) => ideasByWorkspace.get(m.workspace_id) ?? [])
        .filter((idea) => idea.author_id !== userId)
        .map((idea) => idea.id),
    };
  });
}

const datetime = (ms: number): string => new Date(ms).toISOString().slice(0, 23).replace('T', ' ');
