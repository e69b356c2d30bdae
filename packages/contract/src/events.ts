import { z } from 'zod';
import { IdeaStatus, Role } from './entities.ts';

/** A change from one schema version of a payload to the next. */
export type Upcaster = (payload: never) => unknown;

export interface EventDefinition<Name extends string = string, L extends z.ZodType = z.ZodType> {
  readonly name: Name;
  /** Entity whose order the event belongs to: the part before the dot. */
  readonly aggregate: string;
  /** Highest version: what is published now. */
  readonly version: number;
  /** Schema of every version ever published. */
  readonly schemas: Readonly<Record<number, z.ZodType>>;
  readonly latest: L;
  /** `upcasters[n]` turns a payload of version n into one of n + 1. */
  readonly upcasters: Readonly<Record<number, Upcaster>>;
}

/** The version after each; an event that outgrows it adds a line. */
interface Next {
  1: 2;
  2: 3;
  3: 4;
  4: 5;
  5: 6;
  6: 7;
  7: 8;
  8: 9;
}

/** The version before each. */
interface Previous {
  2: 1;
  3: 2;
  4: 3;
  5: 4;
  6: 5;
  7: 6;
  8: 7;
  9: 8;
}

/** Versions of `S` that another follows. */
type Older<S> = {
  [K in keyof S]: K extends keyof Next ? (Next[K] extends keyof S ? K : never) : never;
}[keyof S];

/** Schema of the highest version in `S`. */
type Latest<S> = S[Exclude<keyof S, Older<S>>];

/** `S`, with `never` where the version before is missing. */
type WithoutGaps<S> = {
  [K in keyof S]: K extends 1
    ? S[K]
    : K extends keyof Previous
      ? Previous[K] extends keyof S
        ? S[K]
        : never
      : never;
};

/** From each version but the last to the next. */
type UpcastersOf<S> = {
  [K in Older<S>]: (
    payload: z.infer<Extract<S[K], z.ZodType>>,
  ) => z.input<Extract<S[Extract<Next[Extract<K, keyof Next>], keyof S>], z.ZodType>>;
};

/**
 * Defines an event once: the outbox, the stream, consumers, the live feed and the docs take their types from it.
 * @param name `aggregate.pastTense`, camel case after the dot
 * @param schemas payload schema by version, from 1 without gaps
 * @param given upcasters, needed for every version but the last
 * @throws Error when versions have a gap or an upcaster is missing
 */
export function defineEvent<
  const Name extends `${string}.${string}`,
  const S extends Record<number, z.ZodType>,
>(
  name: Name,
  schemas: S & WithoutGaps<S>,
  ...given: [Older<S>] extends [never] ? [] : [upcasters: UpcastersOf<S>]
): EventDefinition<Name, Extract<Latest<S>, z.ZodType>> {
  const upcasters: Record<number, Upcaster> = given[0] ?? {};
  const versions = Object.keys(schemas).map(Number);
  const version = Math.max(...versions);
  for (let v = 1; v <= version; v++) {
    if (!schemas[v]) throw new Error(`${name}: schema of version ${v} is missing`);
    if (v < version && !upcasters[v]) throw new Error(`${name}: upcaster from version ${v} is missing`);
  }
  const aggregate = name.slice(0, name.indexOf('.'));
  return {
    name,
    aggregate,
    version,
    schemas,
    latest: (schemas as S)[version] as Extract<Latest<S>, z.ZodType>,
    upcasters,
  };
}

const Empty = z.object({});
const Named = z.object({ name: z.string() });

const definitions = [
  defineEvent('user.registered', { 1: Named }),
  defineEvent('client.created', { 1: Named }),
  defineEvent('client.updated', { 1: Named }),
  defineEvent('client.archived', { 1: z.object({ archived: z.boolean() }) }),
  defineEvent('workspace.created', { 1: Named.extend({ clientId: z.string() }) }),
  defineEvent('workspace.updated', { 1: Named }),
  defineEvent('workspace.archived', { 1: z.object({ archived: z.boolean() }) }),
  defineEvent('membership.added', { 1: z.object({ userId: z.string(), role: Role }) }),
  defineEvent('membership.roleChanged', { 1: z.object({ userId: z.string(), from: Role, to: Role }) }),
  defineEvent('membership.removed', { 1: z.object({ userId: z.string() }) }),
  defineEvent('idea.created', {
    1: z.object({
      title: z.string(),
      status: IdeaStatus,
      authorId: z.string(),
      bodyVersion: z.number().int(),
    }),
  }),
  defineEvent('idea.revised', {
    1: z.object({ title: z.string(), status: IdeaStatus, bodyVersion: z.number().int() }),
  }),
  defineEvent('idea.statusChanged', {
    1: z.object({ from: IdeaStatus, to: IdeaStatus, reason: z.string().nullable() }),
  }),
  defineEvent('idea.removed', { 1: z.object({ status: IdeaStatus, bodyVersion: z.number().int() }) }),
  defineEvent('idea.bodyStored', { 1: z.object({ bodyVersion: z.number().int() }) }),
  defineEvent('idea.rated', {
    1: z.object({ userId: z.string(), raters: z.number().int(), first: z.boolean() }),
  }),
  defineEvent('idea.unrated', { 1: z.object({ userId: z.string(), raters: z.number().int() }) }),
  defineEvent('guidance.published', { 1: z.object({ title: z.string(), bodyVersion: z.number().int() }) }),
  defineEvent('guidance.revised', { 1: z.object({ title: z.string(), bodyVersion: z.number().int() }) }),
  defineEvent('guidance.removed', { 1: z.object({ bodyVersion: z.number().int() }) }),
  defineEvent('guidance.bodyStored', { 1: Empty.extend({ bodyVersion: z.number().int() }) }),
] as const;

type Definition = (typeof definitions)[number];
export type EventName = Definition['name'];
export type EventPayload<N extends EventName> = z.infer<Extract<Definition, { name: N }>['latest']>;

/** Every event by name. */
export const events: ReadonlyMap<string, EventDefinition> = new Map(definitions.map((d) => [d.name, d]));

/** An event as consumers get it: payload already in its newest version. */
export interface DomainEvent<N extends EventName = EventName> {
  /** ULID, 26 characters; the idempotency key of every effect. */
  id: string;
  type: N;
  schemaVersion: number;
  aggregate: { type: string; id: string; version: number };
  /** Null for events outside any workspace. */
  workspaceId: string | null;
  actorId: string | null;
  requestId: string | null;
  /** Commit time on the database's clock, UTC. */
  at: string;
  payload: EventPayload<N>;
  traceparent: string | null;
}

/** Union over all events, for `switch (event.type)`. */
export type AnyDomainEvent = { [N in EventName]: DomainEvent<N> }[EventName];

/** The event's type is not in the catalogue, or its schema is newer than this program. Park it; never drop it. */
export class UnknownEventError extends Error {
  override name = 'UnknownEventError';
}

/**
 * Checks a stored payload against the schema of its version and brings it to the newest version.
 * @throws UnknownEventError for an unknown type or a version newer than the catalogue
 * @throws z.ZodError when the payload does not fit its declared version
 */
export function upcast(type: string, schemaVersion: number, payload: unknown): unknown {
  const definition = events.get(type);
  const schema = definition?.schemas[schemaVersion];
  if (!definition || !schema)
    throw new UnknownEventError(`${type} version ${schemaVersion} is not known here`);
  let value = schema.parse(payload);
  for (let v = schemaVersion; v < definition.version; v++) {
    const up = definition.upcasters[v] as ((p: unknown) => unknown) | undefined;
    value = definition.schemas[v + 1]?.parse(up?.(value));
  }
  return value;
}

/** Id part of a subject: NATS tokens may not hold dots, blanks or wildcards, so those are written as `=XX`. */
export function subjectToken(value: string): string {
  return value.replace(/[^A-Za-z0-9_-]/g, (c) =>
    [...new TextEncoder().encode(c)].map((b) => `=${b.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}

/** Subject of an aggregate's events: `<prefix>.<workspaceId or _>.<aggregate>.<aggregateId>`. */
export function subjectOf(
  prefix: string,
  workspaceId: string | null,
  aggregateType: string,
  aggregateId: string,
): string {
  return `${prefix}.${workspaceId === null ? '_' : subjectToken(workspaceId)}.${aggregateType}.${subjectToken(aggregateId)}`;
}
