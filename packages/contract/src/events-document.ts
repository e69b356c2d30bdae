import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { eventMeanings } from './event-meanings.ts';
import { type EventDefinition, type EventName, events } from './events.ts';

/** Where the golden payloads are: one for every version of every event that was ever published. */
export const fixturesFolder = new URL('../fixtures/events/', import.meta.url);

/** The golden payload of one version of an event. @throws Error when there is none */
export function fixtureOf(name: string, version: number): unknown {
  return JSON.parse(readFileSync(new URL(`${name}.v${version}.json`, fixturesFolder), 'utf8')) as unknown;
}

/** As much of a JSON schema as payloads use. */
interface JsonSchema {
  type?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  description?: string;
}

function typeOf(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  return schema.type ?? 'anything';
}

function fieldsOf(schema: JsonSchema): string[] {
  const fields = Object.entries(schema.properties ?? {});
  if (fields.length === 0) return ['No fields.'];
  return [
    '| field | type |',
    '| --- | --- |',
    ...fields.map(([name, field]) => {
      const optional = schema.required?.includes(name) ? '' : ', may be missing';
      return `| \`${name}\` | ${typeOf(field)}${optional} |`;
    }),
  ];
}

function sectionOf(definition: EventDefinition): string[] {
  const { name, version } = definition;
  const lines = [`### ${name}`, '', eventMeanings[name as EventName], ''];
  for (let v = version; v >= 1; v--) {
    const schema = definition.schemas[v];
    if (!schema) continue;
    const older = v < version ? ', published earlier; consumers get the newest' : '';
    lines.push(
      `Version ${v}${older}:`,
      '',
      ...fieldsOf(z.toJSONSchema(schema, { io: 'input' }) as JsonSchema),
      '',
    );
    lines.push('```json', JSON.stringify(fixtureOf(name, v), null, 2), '```', '');
  }
  return lines;
}

/** The text of docs/events.md, made from the catalogue and the golden payloads. */
export function eventsDocument(): string {
  const all = [...events.values()];
  const aggregates = Map.groupBy(all, (definition) => definition.aggregate);
  const lines = [
    '# Events',
    '',
    'Made by `npm run docs:events` from `packages/contract/src/events.ts`; a test fails when it is out of date.',
    '',
    'Every change is an event, written into the `outbox` table in the transaction that makes it, then carried into the',
    'NATS JetStream stream `SPARKROOM` by a relay. Delivery is at least once and in order within an aggregate:',
    'the event id (a ULID) is the key by which a receiver recognises what it had.',
    '',
    'Subject: `<prefix>.<workspace id or _>.<aggregate>.<aggregate id>`; characters other than letters, digits, `_` and',
    '`-` in ids are written `=XX`. Body: the payload as JSON. Headers, percent-encoded where not printable ASCII:',
    '',
    '| header | meaning |',
    '| --- | --- |',
    '| `Nats-Msg-Id` | event id; `<id>:r<n>` when the stream had lost it and it was published again |',
    '| `Ev-Type`, `Ev-Schema` | name and version of the payload |',
    '| `Agg-Type`, `Agg-Id`, `Agg-Version` | whose event it is, and its number there: 1, 2, 3 without a gap |',
    '| `Workspace-Id`, `Actor-Id`, `Request-Id` | where, who, by which request; left out when there is none |',
    '| `Occurred-At` | commit, on the database’s clock, ISO 8601 UTC |',
    '| `traceparent` | W3C trace context of the request |',
    '',
    'A version that was published never changes: a change is a new version and an upcaster, so that consumers only',
    'ever see the newest. What a consumer does not know, it parks among its dead letters.',
    '',
    `${all.length} events:`,
    '',
  ];
  for (const [aggregate, definitions] of aggregates) {
    lines.push(`## ${aggregate}`, '');
    for (const definition of definitions) lines.push(...sectionOf(definition));
  }
  return `${lines.join('\n').trimEnd()}\n`;
}
