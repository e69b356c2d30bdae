import { setTimeout as pause } from 'node:timers/promises';
import { deadlineIn } from '@sparkroom/pools';
import type { BulkRow, Database, NewDocument, StoredDocument } from './database.ts';
import { CloudantError } from './errors.ts';
import { jitter } from './retry.ts';
import type { CallOptions } from './transport.ts';

export type BodyType = 'idea' | 'guidance';

/** Free-form content. Names that begin with `_`, `type`, `workspaceId`, `appliedVersion` and `removed` are ours. */
export type Body = Readonly<Record<string, unknown>>;

/** A body that is there. */
export interface BodyDoc {
  id: string;
  type: BodyType;
  workspaceId: string;
  /** The version, as counted in MySQL, that this body belongs to. */
  appliedVersion: number;
  body: Body;
}

/** What is to be stored. */
export interface BodyInput {
  id: string;
  type: BodyType;
  workspaceId: string;
  /** Counted in MySQL; a whole number from 1 on. */
  version: number;
  body: Body;
}

/**
 * `applied`: this version is now stored through this call (or through one before whose answer was lost). False: the
 * same or a newer version was there already, or the entity was removed at one. `rev` is the stored document's.
 */
export interface Applied {
  applied: boolean;
  rev: string;
}

/** Cloudant refuses larger documents; the embedded server does not, so this is checked here. */
const maxDocumentBytes = 1_000_000;
const bulkDocuments = 500;
const bulkBytes = 8_000_000;
/** Conflicts in a row on one document before a call gives up. */
const maxConflicts = 8;

const ownFields = new Set(['type', 'workspaceId', 'appliedVersion', 'removed']);

/**
 * Idea and guidance bodies, each one document under the entity's id, and one document that never changes for each
 * version, `<id>.r<version, ten digits>`. Stored flat: `{_id, type, workspaceId, appliedVersion, ...body}`.
 *
 * A body is replaced only by a newer version, whatever order the calls come in and however often; a removed one leaves
 * its version behind so that a late older one is refused. Calls throw what `Transport.request` throws.
 */
export class Bodies {
  readonly #database: Database;
  readonly #deadlineMs: number;

  constructor(database: Database, deadlineMs: number) {
    this.#database = database;
    this.#deadlineMs = deadlineMs;
  }

  /** A body, or null when there is none or it was removed. */
  async get(id: string, options?: CallOptions): Promise<BodyDoc | null> {
    const doc = await this.#database.get(id, options);
    return doc && toBody(doc);
  }

  /** The bodies of a page of ids, in one request. Missing and removed ones are not in the answer. */
  async getMany(ids: readonly string[], options?: CallOptions): Promise<Map<string, BodyDoc>> {
    const bodies = new Map<string, BodyDoc>();
    for (const [id, doc] of await this.#database.getMany(ids, options)) {
      const body = toBody(doc);
      if (body) bodies.set(id, body);
    }
    return bodies;
  }

  /** Bodies of earlier versions, by version, in one request. Versions that were never stored are not in the answer. */
  async revisions(
    id: string,
    versions: readonly number[],
    options?: CallOptions,
  ): Promise<Map<number, Body>> {
    const found = await this.#database.getMany(
      versions.map((version) => revisionId(id, version)),
      options,
    );
    const bodies = new Map<number, Body>();
    for (const doc of found.values()) bodies.set(doc.version as number, doc.body as Body);
    return bodies;
  }

  /** The stored version of each id, for comparison with MySQL. Ids that were never stored are not in the answer. */
  async versions(
    ids: readonly string[],
    options?: CallOptions,
  ): Promise<Map<string, { version: number; removed: boolean }>> {
    const versions = new Map<string, { version: number; removed: boolean }>();
    for (const [id, doc] of await this.#database.getMany(ids, options)) {
      versions.set(id, { version: versionOf(doc), removed: doc.removed === true });
    }
    return versions;
  }

  /**
   * Stores a version of a body unless the same or a newer one is stored. Safe to repeat and to run beside itself.
   * @throws TypeError when id, version or a field's name is not allowed; CloudantError 413 when the body is too large,
   * 409 when the document kept changing under our hands.
   */
  apply(input: BodyInput, options?: CallOptions): Promise<Applied> {
    const document = toDocument(input);
    const revision = toRevision(input);
    return this.#replace(input.id, input.version, () => document, revision, options);
  }

  /**
   * Leaves only the id, its version and the mark `removed`, unless a newer version is stored. Works also when nothing
   * was stored. Earlier versions' own documents stay.
   */
  remove(id: string, version: number, options?: CallOptions): Promise<Applied> {
    checkIdentity(id, version);
    const tombstone = (stored: StoredDocument | null): NewDocument => ({
      _id: id,
      ...(stored?.type ? { type: stored.type, workspaceId: stored.workspaceId } : {}),
      appliedVersion: version,
      removed: true,
    });
    return this.#replace(id, version, tombstone, undefined, options);
  }

  /**
   * `apply` for many, in bulk; for seeding and migration. The deadline counts for each batch of at most 500 documents.
   * @returns one outcome for each input, in order.
   * @throws CloudantError that names the first document which could not be stored; others may have been.
   */
  async applyMany(inputs: readonly BodyInput[], options: { signal?: AbortSignal } = {}): Promise<Applied[]> {
    const results = new Map<BodyInput, Applied>();
    for (const batch of batches(inputs)) await this.#applyBatch(batch, results, options);
    return inputs.map((input) => results.get(input) as Applied);
  }

  async #applyBatch(
    batch: Batch,
    results: Map<BodyInput, Applied>,
    options: { signal?: AbortSignal },
  ): Promise<void> {
    const call = { ...options, deadline: deadlineIn(this.#deadlineMs) };
    const stored = await this.#database.getMany(
      batch.map(({ input }) => input.id),
      call,
    );
    const newest = new Map<string, Batch[number]>();
    for (const item of batch) {
      const other = newest.get(item.input.id);
      if (!other || other.input.version < item.input.version) newest.set(item.input.id, item);
    }
    const isOld = (input: BodyInput) => versionOf(stored.get(input.id)) >= input.version;
    const revisions = batch.filter(({ input }) => stored.get(input.id)?.removed !== true || !isOld(input));
    const mains = [...newest.values()].filter(({ input }) => !isOld(input));
    const rows = await this.#database.bulk(
      [
        ...revisions.map(({ revision }) => revision),
        ...mains.map(({ input, document }) => withRev(document, stored.get(input.id))),
      ],
      { ...call, idempotent: true },
    );
    for (const row of rows) throwUnlessConflict(row);
    for (const [i, { input }] of mains.entries()) {
      const row = rows[revisions.length + i];
      if (row && row.error === undefined) results.set(input, { applied: true, rev: row.rev });
    }
    for (const { input } of batch) {
      if (results.has(input)) continue;
      const known = stored.get(input.id);
      if (known && isOld(input)) results.set(input, { applied: false, rev: known._rev });
      else results.set(input, await this.apply(input, call));
    }
  }

  async #replace(
    id: string,
    version: number,
    build: (stored: StoredDocument | null) => NewDocument,
    revision: NewDocument | undefined,
    options: CallOptions = {},
  ): Promise<Applied> {
    const call = { ...options, deadline: options.deadline ?? deadlineIn(this.#deadlineMs) };
    let sent = false;
    for (let conflicts = 0; conflicts < maxConflicts; conflicts += 1) {
      const stored = await this.#database.get(id, call);
      if (stored && versionOf(stored) >= version) {
        // A crash may have stored the body and not its revision; bulk writes are not atomic.
        if (revision && !sent && stored.removed !== true) {
          for (const row of await this.#database.bulk([revision], { ...call, idempotent: true })) {
            throwUnlessConflict(row);
          }
        }
        // What we sent was refused but our version is there: the answer to the first sending was lost.
        return { applied: sent && versionOf(stored) === version, rev: stored._rev };
      }
      const document = withRev(build(stored), stored);
      // With `_rev` a write can be repeated: if the first did take effect, the second is a conflict.
      const rows = await this.#database.bulk(revision ? [revision, document] : [document], {
        ...call,
        idempotent: true,
      });
      sent = true;
      for (const row of rows) throwUnlessConflict(row);
      const main = rows.at(-1);
      if (main && main.error === undefined) return { applied: true, rev: main.rev };
      await pause(jitter(conflicts), undefined, call.signal ? { signal: call.signal } : {}).catch(() => {
        throw call.signal?.reason;
      });
    }
    throw new CloudantError(
      { statusCode: 409, headers: {} },
      'conflict',
      `Document ${id} was changed by others ${maxConflicts} times in a row.`,
    );
  }
}

function toBody(doc: StoredDocument): BodyDoc | null {
  if (doc.removed === true || (doc.type !== 'idea' && doc.type !== 'guidance')) return null;
  const body: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(doc)) {
    if (!name.startsWith('_') && !ownFields.has(name)) body[name] = value;
  }
  return {
    id: doc._id,
    type: doc.type,
    workspaceId: String(doc.workspaceId),
    appliedVersion: versionOf(doc),
    body,
  };
}

function toDocument({ id, type, workspaceId, version, body }: BodyInput): NewDocument {
  checkIdentity(id, version);
  for (const name of Object.keys(body)) {
    if (name.startsWith('_') || ownFields.has(name)) {
      throw new TypeError(`A body must not have a field named ${JSON.stringify(name)}.`);
    }
  }
  return checkSize({ _id: id, type, workspaceId, appliedVersion: version, ...body });
}

function toRevision({ id, version, body }: BodyInput): NewDocument {
  return checkSize({ _id: revisionId(id, version), type: 'revision', of: id, version, body });
}

function revisionId(id: string, version: number): string {
  return `${id}.r${String(version).padStart(10, '0')}`;
}

function checkIdentity(id: string, version: number): void {
  if (id === '' || id.startsWith('_') || /\.r\d{10,}$/.test(id)) {
    throw new TypeError(
      'A body needs an id that is not empty, does not begin with "_" and does not end like a revision.',
    );
  }
  if (!Number.isSafeInteger(version) || version < 1) {
    throw new TypeError('A version must be a whole number of at least 1.');
  }
}

function checkSize(document: NewDocument): NewDocument {
  if (bytesOf(document) > maxDocumentBytes) {
    throw new CloudantError(
      { statusCode: 413, headers: {} },
      'document_too_large',
      `Document ${document._id} is larger than ${maxDocumentBytes} bytes.`,
    );
  }
  return document;
}

function bytesOf(document: NewDocument): number {
  return Buffer.byteLength(JSON.stringify(document));
}

function versionOf(doc: StoredDocument | null | undefined): number {
  return typeof doc?.appliedVersion === 'number' ? doc.appliedVersion : 0;
}

function withRev(document: NewDocument, stored: StoredDocument | null | undefined): NewDocument {
  return stored ? { ...document, _rev: stored._rev } : document;
}

function throwUnlessConflict(row: BulkRow): void {
  if (row.error !== undefined && row.error !== 'conflict') {
    throw new CloudantError({ statusCode: 500, headers: {} }, row.error, `Document ${row.id}: ${row.reason}`);
  }
}

type Batch = { input: BodyInput; document: NewDocument; revision: NewDocument }[];

/** Cuts inputs so that one bulk request stays below the limits. All are checked before the first is sent. */
function batches(inputs: readonly BodyInput[]): Batch[] {
  const result: Batch[] = [];
  let bytes = 0;
  for (const input of inputs) {
    const item = { input, document: toDocument(input), revision: toRevision(input) };
    const size = bytesOf(item.document) + bytesOf(item.revision);
    const last = result.at(-1);
    if (last && (last.length + 1) * 2 <= bulkDocuments && bytes + size <= bulkBytes) {
      last.push(item);
      bytes += size;
    } else {
      result.push([item]);
      bytes = size;
    }
  }
  return result;
}
