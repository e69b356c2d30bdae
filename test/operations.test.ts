import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

test('docs/operations.md says what every figure of worker and server means', () => {
  const names = ['apps/worker/src/metrics.ts', 'apps/server/src/metrics.ts'].flatMap((file) =>
    [...read(file).matchAll(/name: '((?:sparkroom|cache)_\w+)'/g)].map((match) => match[1] ?? ''),
  );
  expect(names.length).toBeGreaterThan(12);
  const text = read('docs/operations.md');
  expect(
    names.filter((name) => !text.includes(name.replace('_checks_skipped_total', '_checks_total'))),
  ).toEqual([]);
});
