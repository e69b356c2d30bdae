import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

const folder = new URL('./migrations/', import.meta.url);
const files = readdirSync(folder).sort();
const textOf = (file: string): string =>
  readFileSync(new URL(file, folder), 'utf8').replace(/^\s*--.*$/gm, '');

/** Statements of a file: what semicolons outside quotes separate. */
const statements = (sql: string): string[] =>
  sql
    .replace(/'(?:[^'\\]|\\.|'')*'/g, "''")
    .split(';')
    .filter((part) => part.trim() !== '');

describe('migrations', () => {
  test('are numbered from 1 without gaps', () => {
    expect(files.length).toBeGreaterThan(0);
    expect(files.map((file) => file.slice(0, 4))).toEqual(
      files.map((_, i) => String(i + 1).padStart(4, '0')),
    );
    for (const file of files) expect(file).toMatch(/^\d{4}_[a-z0-9_]+\.sql$/);
  });

  test.each(files)('%s is one statement', (file) => {
    expect(statements(textOf(file))).toHaveLength(1);
  });

  test.each(files.filter((file) => /create table/i.test(textOf(file))))(
    '%s names engine, character set and collation',
    (file) => {
      expect(textOf(file)).toMatch(
        /\) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;?\s*$/,
      );
    },
  );

  test('the count of statements itself notices', () => {
    expect(statements("create table a (b int); insert into a values (';');")).toHaveLength(2);
  });
});
