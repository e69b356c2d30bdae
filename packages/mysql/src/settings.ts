/** Where MySQL or MariaDB is and how much of it we use. */
export interface MysqlSettings {
  /** `mysql://user:password@host:port/database` */
  url: string;
  /** Connections at most; also the number of queries at once. */
  connections: number;
  /** Longest time a caller waits for a connection, in milliseconds. */
  acquireMs: number;
  /** Longest time one statement may take, in milliseconds; the connection is given up after it. */
  statementMs: number;
}

/**
 * Reads the settings from the environment: `SPARKROOM_MYSQL_URL`, `SPARKROOM_MYSQL_CONNECTIONS` (default 20),
 * `SPARKROOM_MYSQL_ACQUIRE_MS` (5,000), `SPARKROOM_MYSQL_STATEMENT_MS` (10,000).
 * @throws Error naming the variable when one is missing or not a number
 */
export function readMysqlSettings(env: NodeJS.ProcessEnv): MysqlSettings {
  const url = env.SPARKROOM_MYSQL_URL;
  if (!url)
    throw new Error(
      'SPARKROOM_MYSQL_URL is not set. Example: mysql://user:password@127.0.0.1:3306/sparkroom',
    );
  return {
    url,
    connections: number(env, 'SPARKROOM_MYSQL_CONNECTIONS', 20),
    acquireMs: number(env, 'SPARKROOM_MYSQL_ACQUIRE_MS', 5000),
    statementMs: number(env, 'SPARKROOM_MYSQL_STATEMENT_MS', 10_000),
  };
}

function number(env: NodeJS.ProcessEnv, name: string, fallback: number): number {
  const value = env[name] === undefined || env[name] === '' ? fallback : Number(env[name]);
  if (!Number.isInteger(value) || value < 1) throw new Error(`${name} must be a whole number of at least 1.`);
  return value;
}
