import { Id } from '@sparkroom/contract';
import { DomainError } from './errors.ts';

/** A place in a list: its kind (so that one list's cursor is not used in another) and the last item's sort values. */
export function encodeCursor(kind: string, values: ReadonlyArray<string | number>): string {
  return Buffer.from(JSON.stringify([kind, ...values])).toString('base64url');
}

/** What a value of a cursor must be: besides plain text and numbers an id, or a time as the database writes it. */
type Shape = 'string' | 'number' | 'id' | 'time';

const fits: Record<Shape, (value: unknown) => boolean> = {
  string: (value) => typeof value === 'string',
  number: Number.isFinite,
  // Checked here, because a server may refuse to compare anything else with a column of ids or times.
  id: (value) => Id.safeParse(value).success,
  time: (value) =>
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/.test(value) &&
    !Number.isNaN(Date.parse(`${value.replace(' ', 'T')}Z`)),
};

/**
 * Reads a cursor of `kind` whose values have the types of `shape`.
 * @throws DomainError INVALID_CURSOR for anything else
 */
export function decodeCursor<const S extends readonly Shape[]>(
  kind: string,
  shape: S,
  cursor: string | null | undefined,
): { -readonly [K in keyof S]: S[K] extends 'number' ? number : string } | null {
  if (cursor == null) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    parsed = null;
  }
  if (Array.isArray(parsed) && parsed[0] === kind && parsed.length === shape.length + 1) {
    const values = parsed.slice(1);
    if (shape.every((type, i) => fits[type](values[i]))) return values as never;
  }
  throw new DomainError('INVALID_CURSOR', 'This cursor belongs to another list. Start from the first page.');
}

/** Cuts `limit + 1` rows to a page: the extra row only says that there is more. */
export function pageOf<R, T>(
  rows: readonly R[],
  limit: number,
  map: (row: R) => T,
  cursorOf: (row: R) => string,
): { items: T[]; nextCursor: string | null } {
  const kept = rows.slice(0, limit);
  const last = kept.at(-1);
  return {
    items: kept.map(map),
    nextCursor: rows.length > limit && last !== undefined ? cursorOf(last) : null,
  };
}
