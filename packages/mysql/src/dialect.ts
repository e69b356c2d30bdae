import { type RawBuilder, sql } from 'kysely';

/**
 * All that differs between MySQL 8.4+ and MariaDB 10.11+. Everything else is written in their common subset:
 * no RETURNING, no LATERAL, no functional index, no `->>`, collation always named (notes on both in README.md).
 */
export type Flavour = 'mysql' | 'mariadb';

/** Which of the two answered `SELECT VERSION()`. */
export const flavourOf = (version: string): Flavour => (/mariadb/i.test(version) ? 'mariadb' : 'mysql');

/** `VALUES(column)` inside ON DUPLICATE KEY UPDATE: deprecated in MySQL, but the only form that MariaDB has too. */
export const inserted = <T>(column: string): RawBuilder<T> => sql<T>`values(${sql.ref(column)})`;

/** Statements that set up each new connection. */
export function sessionStatements(flavour: Flavour, statementMs: number): string[] {
  return [
    // READ COMMITTED: no gap locks, so that writers to neighbouring rows do not deadlock.
    'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
    `SET SESSION time_zone = '+00:00', innodb_lock_wait_timeout = 5, sql_mode = 'STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY'`,
    flavour === 'mariadb'
      ? `SET SESSION max_statement_time = ${statementMs / 1000}`
      : `SET SESSION max_execution_time = ${statementMs}`,
  ];
}

/** JSON columns come parsed or as text, depending on server and driver version. */
export function parseJson<T>(value: T | string): T {
  return typeof value === 'string' ? (JSON.parse(value) as T) : value;
}

/** The database's clock, UTC with microseconds: the only clock that rows are stamped with. */
export const now = sql<string>`current_timestamp(6)`;
