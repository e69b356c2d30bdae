import { currentTimings, deadlineIn, Gate, GateRefusedError, StoreUnavailableError } from '@sparkroom/pools';
import { type ControlledTransaction, Kysely, MysqlDialect, sql, type Transaction } from 'kysely';
import { createPool, type Pool, type PoolConnection } from 'mysql2';
import { type Flavour, flavourOf, sessionStatements } from './dialect.ts';
import { isTransient, translateError } from './errors.ts';
import type { MysqlSettings } from './settings.ts';
import type { Tables } from './types.ts';

export type Db = Kysely<Tables>;
/** An open transaction; every repository function takes one or a `Db`. */
export type Trx = Transaction<Tables>;

export interface Mysql {
  readonly db: Db;
  readonly flavour: Flavour;
  /** The gate in front of the connections: size, busy, waiting. */
  readonly gate: Gate;
  /**
   * Runs `work` in one transaction. Deadlock (1213), lock wait (1205) and snapshot conflict (1020) roll back and
   * repeat the whole of `work`, three tries with full jitter, so `work` must not touch anything but its transaction.
   * @throws StoreUnavailableError when the database is away; with `outcome: 'unknown'` after a COMMIT without an answer
   */
  transaction<T>(work: (trx: Trx) => Promise<T>): Promise<T>;
  /** Answers when the database does. @throws StoreUnavailableError */
  ping(): Promise<void>;
  /** Waits for what is running, then closes the connections. */
  close(): Promise<void>;
}

const TRIES = 3;

/**
 * Opens the pool and asks the server which flavour it is.
 * @throws StoreUnavailableError when it cannot be reached
 */
export async function openMysql(settings: MysqlSettings): Promise<Mysql> {
  const pool = createPool({
    ...connectionOptions(settings.url),
    connectionLimit: settings.connections,
    maxIdle: Math.min(10, settings.connections),
    idleTimeout: 60_000,
    enableKeepAlive: true,
    connectTimeout: 5000,
    // Exact values: BIGINT and DECIMAL as text, DATETIME with its microseconds.
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
  });
  const gate = new Gate({ name: 'mysql', size: settings.connections, maxWaiting: 2000 });
  let flavour: Flavour;
  try {
    flavour = flavourOf(await serverVersion(pool));
  } catch (error) {
    pool.end(() => {});
    throw translateError(error);
  }
  pool.on('connection', (connection) => {
    // Queued on the connection before its first user's statement; an error here shows up there.
    for (const statement of sessionStatements(flavour, settings.statementMs)) connection.query(statement);
  });
  // The connection that asked for the version was made before the listener: it must not serve without its set-up.
  await discardIdle(pool);

  const db = new Kysely<Tables>({ dialect: new MysqlDialect({ pool: gated(pool, gate, settings) }) });
  return {
    db,
    flavour,
    gate,
    transaction: (work) => runTransaction(db, work),
    async ping() {
      await sql`select 1`.execute(db);
    },
    async close() {
      await gate.close();
      await db.destroy();
      await endPool(pool);
    },
  };
}

/**
 * Creates the database that the URL names unless it is there.
 * @throws StoreUnavailableError; a driver error when the account may not create it
 */
export async function ensureDatabase(url: string): Promise<void> {
  const target = new URL(url);
  const name = decodeURIComponent(target.pathname.slice(1));
  if (!/^\w{1,64}$/.test(name))
    throw new Error('The MySQL URL must name a database of letters, digits and _.');
  target.pathname = '/';
  const pool = createPool({ ...connectionOptions(target.href), connectionLimit: 1, connectTimeout: 5000 });
  try {
    await pool
      .promise()
      .query(`create database if not exists \`${name}\` character set utf8mb4 collate utf8mb4_unicode_ci`);
  } catch (error) {
    throw translateError(error);
  } finally {
    await pool.promise().end();
  }
}

/** The auth library's way to the database: its own queries, with our deadlines, errors and figures. */
export interface AuthDatabase {
  readonly db: Kysely<unknown>;
  readonly gate: Gate;
  close(): Promise<void>;
}

/**
 * A pool of its own for the auth library, which wants dates as `Date` and must not wait behind slow lists.
 * @param settings those of the main pool; its `connections` do not count here
 * @param connections at most so many; a look-up of a session holds one for a millisecond
 */
export function openAuthDatabase(flavour: Flavour, settings: MysqlSettings, connections = 5): AuthDatabase {
  const pool = createPool({
    ...connectionOptions(settings.url),
    connectionLimit: connections,
    connectTimeout: 5000,
    enableKeepAlive: true,
  });
  pool.on('connection', (connection) => {
    for (const statement of sessionStatements(flavour, settings.statementMs)) connection.query(statement);
  });
  const gate = new Gate({ name: 'mysql_auth', size: connections, maxWaiting: 2000 });
  const db = new Kysely<unknown>({ dialect: new MysqlDialect({ pool: gated(pool, gate, settings) }) });
  return {
    db,
    gate,
    async close() {
      await gate.close();
      await db.destroy();
      await endPool(pool);
    },
  };
}

const endPool = (pool: Pool): Promise<void> =>
  new Promise((resolve, reject) => pool.end((error) => (error ? reject(error) : resolve())));

/** Options every pool on this database shares. */
function connectionOptions(url: string): {
  uri: string;
  charset: string;
  timezone: string;
} {
  return { uri: url, charset: 'utf8mb4_unicode_ci', timezone: 'Z' };
}

function serverVersion(pool: Pool): Promise<string> {
  return new Promise((resolve, reject) => {
    pool.query('select version() as version', (error, rows) => {
      if (error) reject(error);
      else resolve(String((rows as Array<{ version: string }>)[0]?.version));
    });
  });
}

function discardIdle(pool: Pool): Promise<void> {
  return new Promise((resolve, reject) => {
    pool.getConnection((error, connection) => {
      if (error) return reject(translateError(error));
      connection.destroy();
      resolve();
    });
  });
}

type Facade = {
  config: object;
  threadId: number;
  connect(): void;
  query(sql: string, parameters: unknown, callback?: (error: unknown, result: never) => void): never;
  release(): void;
  destroy(): void;
};

/** The two methods Kysely needs of a pool: with our gate before it, a deadline and a stop-watch on each statement. */
function gated(pool: Pool, gate: Gate, settings: MysqlSettings) {
  return {
    getConnection(callback: (error: unknown, connection: Facade) => void): void {
      gate.acquire({ deadline: deadlineIn(settings.acquireMs) }).then(
        (pass) =>
          pool.getConnection((error, connection) => {
            if (!error)
              return callback(
                null,
                facade(connection, () => pass.release(), settings),
              );
            pass.release(true);
            callback(translateError(error), undefined as never);
          }),
        (error) => callback(refused(error), undefined as never),
      );
    },
    // Kysely ends a pool only if it has used it; so we do it, in `close`.
    end(callback: (error: unknown) => void): void {
      callback(null);
    },
  };
}

function refused(error: unknown): unknown {
  return error instanceof GateRefusedError
    ? new StoreUnavailableError('mysql', { cause: error, detail: 'all connections are busy' })
    : error;
}

function facade(connection: PoolConnection, released: () => void, settings: MysqlSettings): Facade {
  return {
    config: connection.config,
    threadId: connection.threadId,
    connect() {},
    query(statement, values, callback) {
      const started = performance.now();
      // The answer arrives in the connection's own async context, which is not the request's.
      const timings = currentTimings();
      const done = (error: unknown, result: unknown) => {
        timings?.add('sql', performance.now() - started);
        // A statement given up on may still be running: its connection cannot serve anybody else.
        if ((error as { code?: string } | null)?.code === 'PROTOCOL_SEQUENCE_TIMEOUT') connection.destroy();
        callback?.(error ? translateError(error) : null, result as never);
      };
      const query = {
        sql: statement,
        timeout: settings.statementMs + 1000,
        values: values as Array<string | number | null>,
      };
      return (callback ? connection.query(query, done) : connection.query(query)) as never;
    },
    release() {
      connection.release();
      released();
    },
    destroy() {
      connection.destroy();
      released();
    },
  };
}

async function runTransaction<T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    let trx: ControlledTransaction<Tables> | undefined;
    let committing = false;
    try {
      trx = await db.startTransaction().execute();
      const value = await work(trx);
      committing = true;
      await trx.commit().execute();
      return value;
    } catch (error) {
      const begun = trx !== undefined;
      // The rollback of a lost connection fails too; the server has done it by itself.
      if (trx && !trx.isCommitted && !trx.isRolledBack)
        await trx
          .rollback()
          .execute()
          .catch(() => {});
      if (committing && error instanceof StoreUnavailableError) {
        throw new StoreUnavailableError('mysql', {
          cause: error.cause,
          detail: 'no answer to COMMIT',
          outcome: 'unknown',
        });
      }
      const lostBeforeBegin = !begun && error instanceof StoreUnavailableError && attempt === 1;
      if (attempt >= TRIES || !(isTransient(error) || lostBeforeBegin)) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * 2 ** attempt));
    }
  }
}
