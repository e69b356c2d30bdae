import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventsDocument, fixtureOf, fixturesFolder } from './events-document.ts';
import { events, upcast } from './index.ts';

const versions = [...events.values()].flatMap((definition) =>
  Object.keys(definition.schemas).map((version) => ({ definition, version: Number(version) })),
);

test('docs/events.md is what the catalogue says', () => {
  const file = new URL('../../../docs/events.md', import.meta.url);
  expect(readFileSync(file, 'utf8'), 'run npm run docs:events').toBe(eventsDocument());
});

test.each(versions)(
  '$definition.name, version $version, still reads what it read when it was published',
  ({ definition: { name, schemas, latest }, version }) => {
    const golden = fixtureOf(name, version);
    // Equal, not only valid: a field that was removed or renamed would be dropped in silence.
    expect(schemas[version]?.parse(golden)).toEqual(golden);
    expect(() => latest.parse(upcast(name, version, golden))).not.toThrow();
  },
);

test('no golden payload has lost its event', () => {
  const known = versions.map(({ definition, version }) => `${definition.name}.v${version}.json`);
  expect(readdirSync(fixturesFolder).sort()).toEqual(known.sort());
});
