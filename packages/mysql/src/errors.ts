import { StoreUnavailableError } from '@sparkroom/pools';

const codeOf = (error: unknown): string => String((error as { code?: unknown })?.code ?? '');
const numberOf = (error: unknown): number => Number((error as { errno?: unknown })?.errno ?? 0);

/** Codes of a server that is away, going away, or did not answer in time. */
const away = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENOENT',
  'PROTOCOL_CONNECTION_LOST',
  'PROTOCOL_SEQUENCE_TIMEOUT',
  'ER_CON_COUNT_ERROR',
  'ER_SERVER_SHUTDOWN',
  'ER_NORMAL_SHUTDOWN',
  'ER_QUERY_TIMEOUT',
  'ER_QUERY_INTERRUPTED',
  'ER_DISK_FULL',
  'ER_OPTION_PREVENTS_STATEMENT',
]);

/** Numbers of MariaDB's own errors, which the driver has no name for: connection killed, statement took too long. */
const awayNumbers = new Set([1927, 1969]);

/** A driver error that means "the store does not serve us now" becomes a StoreUnavailableError; others stay. */
export function translateError(error: unknown): unknown {
  if (error instanceof StoreUnavailableError) return error;
  const lost =
    away.has(codeOf(error)) ||
    awayNumbers.has(numberOf(error)) ||
    /closed state|Pool is closed|connection is closed/i.test((error as Error)?.message ?? '');
  return lost ? new StoreUnavailableError('mysql', { cause: error }) : error;
}

/** 1213 deadlock, 1205 lock wait timeout, 1020 record changed (MariaDB snapshot isolation). */
export const isTransient = (error: unknown): boolean => [1213, 1205, 1020].includes(numberOf(error));

/** 1062: a unique key is taken. `key` narrows it to one key by name. */
export function isDuplicate(error: unknown, key?: string): boolean {
  if (numberOf(error) !== 1062) return false;
  return key === undefined || String((error as Error).message).includes(key);
}
