/*
 * Everything in which the embedded server (express-pouchdb) differs from CouchDB and Cloudant and that this package
 * has to know. Nothing outside this file may.
 *
 * Handled here:
 * - a row whose linked document is missing or deleted: CouchDB says `doc: null`, the embedded server leaves `doc` out.
 * - the rows of `_bulk_docs`: CouchDB gives them in the order of the documents, the embedded server in any.
 *
 * Avoided elsewhere, because only CouchDB can do it (so we use neither):
 * - `_index` does not replace an index of the same name: indexes are deployed as design documents on both.
 * - `_find` ignores `bookmark` and `execution_stats`; `_design/x/_info`, `_up`, `_design_docs`, view `/queries` and
 *   `allow_fallback` are missing; partitions are ignored; the ETag is not the revision.
 */

/** The document of a row read with `include_docs`, or null when it is missing or deleted. */
export function linkedDocument<T>(row: { doc?: T | null }): T | null {
  const doc = row.doc ?? null;
  if (doc !== null && (doc as { _deleted?: boolean })._deleted === true) return null;
  return doc;
}

/**
 * The rows of a bulk answer in the order of the documents that were sent.
 * @returns undefined when the rows are not those of the documents.
 */
export function bulkRowsInOrder<Row extends { id: string }>(
  documents: readonly { _id: string }[],
  rows: readonly Row[],
): Row[] | undefined {
  const byId = new Map<string, Row[]>();
  for (const row of rows) {
    const same = byId.get(row.id);
    if (same) same.push(row);
    else byId.set(row.id, [row]);
  }
  const ordered: Row[] = [];
  for (const { _id } of documents) {
    const row = byId.get(_id)?.shift();
    if (!row) return undefined;
    ordered.push(row);
  }
  return rows.length === documents.length ? ordered : undefined;
}
