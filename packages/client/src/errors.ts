import type { ErrorData, Reason } from '@sparkroom/contract';

/** An error of ours carries the server's `data`; its shape is all that is relied on, so that copies of tRPC may differ. */
function dataOf(error: unknown): (Partial<ErrorData> & Record<string, unknown>) | null {
  if (typeof error !== 'object' || error === null || !('data' in error)) return null;
  const { data } = error;
  return typeof data === 'object' && data !== null ? (data as Partial<ErrorData>) : null;
}

/**
 * What the server said about a refusal.
 * @param error anything that a call threw
 * @returns the error's data, or null when no answer of the server lies behind it (network down, deadline passed)
 */
export function errorDataOf(error: unknown): ErrorData | null {
  const data = dataOf(error);
  return typeof data?.reason === 'string' ? (data as ErrorData) : null;
}

/**
 * Why a call was refused.
 * @param error anything that a call threw
 * @returns a reason of the closed list, or null when the server did not answer at all
 */
export function reasonOf(error: unknown): Reason | null {
  return errorDataOf(error)?.reason ?? null;
}
