import { errorDataOf } from '@sparkroom/client';
import type { Trouble } from '@sparkroom/ui';

/** What the pages show of an error. */
export function troubleOf(error: unknown): Trouble {
  const data = errorDataOf(error);
  return {
    reason: data?.reason ?? null,
    store: data?.store,
    outcome: data?.outcome,
    requestId: data?.requestId,
  };
}
