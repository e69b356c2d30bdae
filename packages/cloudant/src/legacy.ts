import type { BulkRow, Database, Explanation, MangoQuery, NewDocument, ViewRow } from './database.ts';
import { clientOfWorkspace } from './designs/client-of-workspace.ts';
import { userByUsername } from './designs/user-by-username.ts';
import { userWithWorkspaces } from './designs/user-with-workspaces.ts';
import type { CallOptions } from './transport.ts';

interface LegacyCommon {
  _id: string;
  _rev: string;
}

export interface LegacyClient extends LegacyCommon {
  type: 'client';
  name: string;
}

export interface LegacyWorkspace extends LegacyCommon {
  type: 'workspace';
  name: string;
  clientId: string;
}

export interface LegacyUser extends LegacyCommon {
  type: 'user';
  username: string;
}

/** The design documents of the legacy database. */
export const legacyDesigns = [clientOfWorkspace, userWithWorkspaces, userByUsername];

/** The documents of the system that Sparkroom grew out of, read by its own patterns. */
export class Legacy {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * The client of a workspace, in one query.
   * @returns no row when there is no such workspace or it names no client; a row whose `doc` is null when that client
   * is missing.
   */
  async clientOfWorkspace(workspaceId: string, options?: CallOptions): Promise<ViewRow<LegacyClient>[]> {
    const rows = await this.#database.view<LegacyClient>(
      clientOfWorkspace.name,
      'client',
      { key: workspaceId, include_docs: true },
      options,
    );
    return rows.filter((row) => row.key === workspaceId);
  }

  /**
   * A user and the workspaces it is a member of, in one query: the user's row first (absent when there is no such
   * user), then one row for each membership in the order of the memberships' ids. `doc` is null when it is missing.
   *
   * The range: an array that is the beginning of another sorts before it, so `[u]` comes before `[u, 0]`; both ends
   * are included, so `[u, 1]` is the last. Arrays are compared member by member, so of another user, also of one whose
   * id begins with this one's, nothing lies between. But CouchDB compares strings by the Unicode collation, where ids
   * that are not the same can be equal (e with an accent as one character or two); those rows are dropped here.
   */
  async userWithWorkspaces(
    userId: string,
    options?: CallOptions,
  ): Promise<ViewRow<LegacyUser | LegacyWorkspace>[]> {
    const rows = await this.#database.view<LegacyUser | LegacyWorkspace>(
      userWithWorkspaces.name,
      'documents',
      { startkey: [userId], endkey: [userId, 1], include_docs: true },
      options,
    );
    return rows.filter((row) => Array.isArray(row.key) && row.key[0] === userId);
  }

  /** Users with this username, by index. More than one only in data that is not clean. */
  async findUserByUsername(username: string, options?: CallOptions): Promise<LegacyUser[]> {
    const users = await this.#database.find<LegacyUser>(byUsername(username), options);
    return users.filter((user) => user.username === username);
  }

  /** How the server would answer `findUserByUsername`. */
  explainUserByUsername(username: string, options?: CallOptions): Promise<Explanation> {
    return this.#database.explain(byUsername(username), options);
  }

  /** Stores documents in one request. Look at every row. */
  putMany(documents: readonly NewDocument[], options?: CallOptions): Promise<BulkRow[]> {
    return this.#database.bulk(documents, options);
  }
}

function byUsername(username: string): MangoQuery {
  return {
    selector: { type: 'user', username },
    use_index: [`_design/${userByUsername.name}`, 'type-username'],
    limit: 25,
  };
}
