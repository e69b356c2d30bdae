import { readdir, readFile } from 'node:fs/promises';
import { sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Db } from './database.ts';

const folder = new URL('./migrations/', import.meta.url);

/** Numbered files of one statement each: neither server has transactional DDL, so a half-run file could not be repeated. */
async function readMigrations(): Promise<Record<string, Migration>> {
  const files = (await readdir(folder)).filter((f) => f.endsWith('.sql')).sort();
  const migrations: Record<string, Migration> = {};
  for (const file of files) {
    const statement = (await readFile(new URL(file, folder), 'utf8')).trim().replace(/;$/, '');
    migrations[file.replace('.sql', '')] = {
      async up(db) {
        await sql.raw(statement).execute(db);
      },
    };
  }
  return migrations;
}

/**
 * Brings the schema to the newest version. Safe to run from several processes at once (named lock).
 * Changes go in two steps, expand then contract, so that the running version keeps working.
 * @param report called with the name of each migration as it is done
 * @returns how many were applied
 * @throws Error naming the migration that failed
 */
export async function migrate(db: Db, report: (name: string) => void = () => {}): Promise<number> {
  const migrator = new Migrator({ db, provider: { getMigrations: readMigrations } });
  const { error, results = [] } = await migrator.migrateToLatest();
  let applied = 0;
  for (const result of results) {
    if (result.status === 'Success') {
      applied++;
      report(result.migrationName);
    } else if (result.status === 'Error') {
      throw new Error(`Migration ${result.migrationName} failed`, { cause: error });
    }
  }
  if (error) throw error;
  return applied;
}

/** Whether every migration of this program has been applied; false on an empty or older database. */
export async function isMigrated(db: Db): Promise<boolean> {
  const migrator = new Migrator({ db, provider: { getMigrations: readMigrations } });
  return (await migrator.getMigrations()).every((m) => m.executedAt !== undefined);
}
