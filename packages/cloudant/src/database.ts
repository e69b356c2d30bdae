import { bulkRowsInOrder, linkedDocument } from './embedded-differences.ts';
import { CloudantError } from './errors.ts';
import type { CallOptions, RequestCallOptions, RequestClass, Transport } from './transport.ts';

/** A document as it is stored. */
export interface StoredDocument {
  _id: string;
  _rev: string;
  [field: string]: unknown;
}

/** A document to be stored; `_rev` when it replaces one. */
export interface NewDocument {
  _id: string;
  _rev?: string;
  [field: string]: unknown;
}

/** What became of one document of a bulk write: its new revision, or CouchDB's error (`conflict`, `forbidden`). */
export type BulkRow =
  | { id: string; rev: string; error?: undefined }
  | { id: string; error: string; reason: string };

/** A row of a view; `doc` is null when the query asked for none, or when it is missing or deleted. */
export interface ViewRow<Doc = StoredDocument> {
  id: string;
  key: unknown;
  value: unknown;
  doc: Doc | null;
}

/** Options of a view query, as in CouchDB's API. Keys are any JSON. */
export interface ViewQuery {
  key?: unknown;
  startkey?: unknown;
  endkey?: unknown;
  limit?: number;
  include_docs?: boolean;
  reduce?: boolean;
  descending?: boolean;
}

/** A Mango query; `use_index` is required, since what needs no index has no business here. */
export interface MangoQuery {
  selector: Record<string, unknown>;
  use_index: [designDocument: string, index: string];
  fields?: string[];
  sort?: Record<string, 'asc' | 'desc'>[];
  limit?: number;
}

/** What `_explain` says about a query. `ddoc` is null when the server would scan all documents. */
export interface Explanation {
  index: { ddoc: string | null; name: string; type: string };
}

interface RawRow {
  id?: string;
  key: unknown;
  value?: unknown;
  error?: string;
  doc?: StoredDocument | null;
}

/** One database: the requests that this package makes of it. Errors are those of `Transport.request`. */
export class Database {
  readonly name: string;
  readonly #transport: Transport;

  constructor(transport: Transport, name: string) {
    this.#transport = transport;
    this.name = name;
  }

  /** Creates the database unless it is there. */
  async ensure(options?: CallOptions): Promise<void> {
    // Looking first lets an account without the right to create databases use one that is there.
    if (await this.exists(options)) return;
    try {
      await this.#send('write', { method: 'PUT', path: '' }, { ...options, idempotent: true });
    } catch (error) {
      if (!hasStatus(error, 412)) throw error;
    }
  }

  /** Whether the database is there. */
  async exists(options?: RequestCallOptions): Promise<boolean> {
    try {
      await this.#send('read', { path: '' }, options);
      return true;
    } catch (error) {
      if (hasStatus(error, 404)) return false;
      throw error;
    }
  }

  /** A document by id, or null when it is missing or deleted. */
  async get(id: string, options?: CallOptions): Promise<StoredDocument | null> {
    try {
      return await this.#send<StoredDocument>('read', { path: documentPath(id) }, options);
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  /** Documents by id in one request. Ids that are missing or deleted are not in the answer. */
  async getMany(ids: readonly string[], options?: CallOptions): Promise<Map<string, StoredDocument>> {
    const found = new Map<string, StoredDocument>();
    if (ids.length === 0) return found;
    const answer = await this.#send<{ rows: RawRow[] }>(
      'query',
      { method: 'POST', path: '_all_docs', qs: { include_docs: true }, body: { keys: [...new Set(ids)] } },
      options,
    );
    for (const row of answer.rows) {
      const doc = linkedDocument(row);
      if (doc) found.set(doc._id, doc);
    }
    return found;
  }

  /** Documents whose ids lie between the two, both included, without reading their content. */
  async idsBetween(
    first: string,
    last: string,
    options?: CallOptions,
  ): Promise<{ id: string; rev: string }[]> {
    const answer = await this.#send<{ rows: { id: string; value: { rev: string } }[] }>(
      'query',
      { path: '_all_docs', qs: { startkey: first, endkey: last } },
      options,
    );
    return answer.rows.map((row) => ({ id: row.id, rev: row.value.rev }));
  }

  /**
   * Stores one document.
   * @returns its new revision.
   * @throws CloudantError 409 when `_rev` is not the current one.
   */
  async put(document: NewDocument, options?: RequestCallOptions): Promise<string> {
    const answer = await this.#send<{ rev: string }>(
      'write',
      { method: 'PUT', path: documentPath(document._id), body: document },
      options,
    );
    return answer.rev;
  }

  /** Deletes one revision. @returns false when it was not the current one or there was none. */
  async delete(id: string, rev: string, options?: CallOptions): Promise<boolean> {
    try {
      await this.#send(
        'write',
        { method: 'DELETE', path: documentPath(id), qs: { rev } },
        { ...options, idempotent: true },
      );
      return true;
    } catch (error) {
      if (hasStatus(error, 409) || isMissing(error)) return false;
      throw error;
    }
  }

  /**
   * Stores many documents in one request. Not atomic: look at every row. They come back in the order given.
   * @throws CloudantError 502 when the server answers for other documents than were sent.
   */
  async bulk(documents: readonly NewDocument[], options?: RequestCallOptions): Promise<BulkRow[]> {
    if (documents.length === 0) return [];
    const rows = await this.#send<BulkRow[]>(
      'write',
      { method: 'POST', path: '_bulk_docs', body: { docs: documents } },
      options,
    );
    const ordered = Array.isArray(rows) ? bulkRowsInOrder(documents, rows) : undefined;
    if (!ordered?.every((row) => row.error !== undefined || typeof row.rev === 'string')) {
      throw new CloudantError(
        { statusCode: 502, headers: {} },
        'bad_answer',
        'A bulk answer has the wrong rows.',
      );
    }
    return ordered;
  }

  /** Rows of a view. @param cls `slow` when the view may have to be built first. */
  async view<Doc = StoredDocument>(
    design: string,
    view: string,
    query: ViewQuery,
    options?: RequestCallOptions & { cls?: RequestClass },
  ): Promise<ViewRow<Doc>[]> {
    const answer = await this.#send<{ rows: (Omit<ViewRow<Doc>, 'doc'> & { doc?: Doc | null })[] }>(
      options?.cls ?? 'query',
      { path: `_design/${encodeURIComponent(design)}/_view/${encodeURIComponent(view)}`, qs: { ...query } },
      options,
    );
    return answer.rows.map((row) => ({
      id: row.id,
      key: row.key,
      value: row.value,
      doc: linkedDocument(row),
    }));
  }

  /** Documents that match a Mango query. */
  async find<Doc = StoredDocument>(
    query: MangoQuery,
    options?: RequestCallOptions & { cls?: RequestClass },
  ): Promise<Doc[]> {
    const answer = await this.#send<{ docs: Doc[] }>(
      options?.cls ?? 'query',
      { method: 'POST', path: '_find', body: query },
      options,
    );
    return answer.docs;
  }

  /** How the server would answer a Mango query. */
  explain(query: MangoQuery, options?: CallOptions): Promise<Explanation> {
    return this.#send<Explanation>('query', { method: 'POST', path: '_explain', body: query }, options);
  }

  #send<T>(
    cls: RequestClass,
    call: { method?: string; path: string; qs?: Record<string, unknown>; body?: unknown },
    options?: RequestCallOptions,
  ): Promise<T> {
    return this.#transport.send<T>(cls, { db: this.name, ...call }, options);
  }
}

/** Whether an error is the server's refusal with this status. */
export function hasStatus(error: unknown, statusCode: number): error is CloudantError {
  return error instanceof CloudantError && error.statusCode === statusCode;
}

// A 404 may also mean that there is no such database, which must not pass for a missing document.
function isMissing(error: unknown): boolean {
  return hasStatus(error, 404) && (error.reason === 'missing' || error.reason === 'deleted');
}

// nano leaves any id that contains `_local` unencoded, so paths are made here. The slash after `_design` stays.
function documentPath(id: string): string {
  const design = /^_design\/(.*)$/s.exec(id);
  return design ? `_design/${encodeURIComponent(design[1] ?? '')}` : encodeURIComponent(id);
}
