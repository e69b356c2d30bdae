import { createHash } from 'node:crypto';

/** A view: JavaScript source that CouchDB runs (ES5), and a built-in reduce if any. */
export interface ViewSource {
  map: string;
  reduce?: '_count' | '_sum' | '_stats';
}

interface DesignCommon {
  /** The name after `_design/`. */
  name: string;
  /** Raise it with every change of content. A process that knows only an older version leaves a newer one alone. */
  version: number;
}

/** Views, or one Mango index, never both: CouchDB rebuilds a design document's indexes all together. */
export type DesignDefinition = DesignCommon &
  ({ views: Readonly<Record<string, ViewSource>> } | { index: { name: string; fields: readonly string[] } });

/** A design document as code. */
export interface Design {
  readonly name: string;
  readonly version: number;
  /** Of what decides about the index; equal content gives an equal hash. */
  readonly hash: string;
  /** The document without `_id` and `_rev`. */
  readonly content: Readonly<Record<string, unknown>>;
  readonly kind:
    | { type: 'views'; names: readonly string[] }
    | { type: 'index'; name: string; fields: readonly string[] };
}

/**
 * Makes a design document out of its definition.
 *
 * A Mango index is written in the form in which CouchDB itself stores it (`language: query`), since the `_index` call
 * cannot put the same index under another name first and switch later.
 * @throws TypeError when the name, version or content cannot be right.
 */
export function defineDesign(definition: DesignDefinition): Design {
  const { name, version } = definition;
  if (!/^[a-z][a-z0-9-]*$/.test(name)) {
    throw new TypeError(
      `A design document's name has small letters, digits and hyphens, not ${JSON.stringify(name)}.`,
    );
  }
  if (!Number.isSafeInteger(version) || version < 1) {
    throw new TypeError(`Design document ${name} needs a version of at least 1.`);
  }
  const indexed = 'views' in definition ? fromViews(definition.views) : fromIndex(definition.index);
  const isEmpty =
    'views' in definition ? Object.keys(definition.views).length === 0 : definition.index.fields.length === 0;
  if (isEmpty) throw new TypeError(`Design document ${name} defines nothing.`);
  const kind: Design['kind'] =
    'views' in definition
      ? { type: 'views', names: Object.keys(definition.views) }
      : { type: 'index', name: definition.index.name, fields: definition.index.fields };
  return { name, version, hash: hashOf(indexed), content: { ...indexed, sparkroom: { version } }, kind };
}

/** The hash of a stored design document's content, to be compared with `Design.hash`. */
export function hashOf(document: Readonly<Record<string, unknown>>): string {
  const { language, views, options } = document;
  return createHash('sha256').update(canonical({ language, views, options })).digest('hex').slice(0, 12);
}

function fromViews(views: Readonly<Record<string, ViewSource>>): Record<string, unknown> {
  return { language: 'javascript', views };
}

function fromIndex(index: { name: string; fields: readonly string[] }): Record<string, unknown> {
  return {
    language: 'query',
    views: {
      [index.name]: {
        map: { fields: Object.fromEntries(index.fields.map((field) => [field, 'asc'])) },
        reduce: '_count',
        options: { def: { fields: index.fields } },
      },
    },
  };
}

/** JSON with the names of objects in order. The order of an index's fields counts through `def`, a list. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}
