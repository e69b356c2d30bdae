import { appendFile, readFile, rename, writeFile } from 'node:fs/promises';

/** Remembers which events had their effect. */
export interface OnceStore {
  /**
   * Runs `effect` unless it was done for this event before. Best in one transaction with the effect itself; a store that
   * cannot do that marks the event afterwards, and a crash in between repeats the effect.
   * @returns false when it was done before
   */
  once(eventId: string, effect: () => Promise<void>): Promise<boolean>;
}

/**
 * Wraps a handler so that a second delivery of an event has no second effect.
 * @example subscribe(['idea.rated'], once(fileStore('./seen'))(async (event) => { ... }))
 */
export function once(
  store: OnceStore,
): <E extends { id: string }>(handler: (event: E) => Promise<void>) => (event: E) => Promise<void> {
  return (handler) => async (event) => {
    await store.once(event.id, () => handler(event));
  };
}

/** Remembers events for as long as the process runs. For tests, and effects that are lost with the process anyway. */
export function memoryStore(keep = 10_000): OnceStore {
  const seen = new Set<string>();
  return {
    async once(eventId, effect) {
      if (seen.has(eventId)) return false;
      await effect();
      seen.add(eventId);
      const oldest = seen.values().next();
      if (seen.size > keep && !oldest.done) seen.delete(oldest.value);
      return true;
    },
  };
}

/**
 * Remembers the latest `keep` events in a file, an id a line. One process at a time may use it.
 * @throws Error when the file cannot be read or written
 */
export async function fileStore(file: string, keep = 10_000): Promise<OnceStore> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return '';
  });
  // A line that a crash cut short belongs to an event that will come again.
  const complete = text.slice(0, text.lastIndexOf('\n') + 1);
  const seen = new Set(complete.split('\n').filter((line) => line !== ''));
  let lines = seen.size;

  /** Writes the file anew with what is remembered. */
  async function shorten(): Promise<void> {
    const latest = [...seen].slice(-keep);
    seen.clear();
    for (const id of latest) seen.add(id);
    await writeFile(`${file}.new`, latest.map((id) => `${id}\n`).join(''));
    await rename(`${file}.new`, file);
    lines = latest.length;
  }

  if (text !== complete || lines > keep) await shorten();
  // One after the other, so that appends and rewriting do not cross.
  let writing: Promise<void> = Promise.resolve();
  return {
    async once(eventId, effect) {
      if (seen.has(eventId)) return false;
      await effect();
      seen.add(eventId);
      const mine = writing.then(async () => {
        await appendFile(file, `${eventId}\n`, { flush: true });
        if (++lines > keep * 2) await shorten();
      });
      writing = mine.catch(() => undefined);
      await mine;
      return true;
    },
  };
}
