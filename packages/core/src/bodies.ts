import { setTimeout as pause } from 'node:timers/promises';
import type { Cache } from '@sparkroom/cache';
import type { Cloudant } from '@sparkroom/cloudant';
import type { Body } from '@sparkroom/contract';
import { type BodyKind, type Mysql, pendingBodies } from '@sparkroom/mysql';
import { StoreUnavailableError } from '@sparkroom/pools';

/** Family of cached bodies: `body:<id>`, versioned by the row's body version. */
export const BODY_FAMILY = 'body';
const BODY_TTL_SECONDS = 24 * 3600;

/** What SQL says about a text: which version is the present one, and which the document store has for sure. */
export interface BodyRef {
  id: string;
  bodyVersion: number;
  storedVersion: number;
}

export interface BodyReader {
  /**
   * Texts of one page by id: waiting ones from MySQL, the others from the cache, what is left in one request to
   * Cloudant. Never older than the row said; so authors always read what they wrote.
   * @throws StoreUnavailableError for Cloudant when a text that must be there cannot be had
   */
  many(kind: BodyKind, refs: readonly BodyRef[]): Promise<Map<string, Body>>;
  /** Texts of earlier versions of one idea, by version. */
  history(id: string, versions: readonly number[]): Promise<Map<number, Body>>;
}

export function bodyReader(mysql: Mysql, bodies: Cloudant['bodies'], cache: Cache): BodyReader {
  async function fromCloudant(
    refs: readonly BodyRef[],
    fill: boolean,
    into: Map<string, Body>,
  ): Promise<BodyRef[]> {
    const docs = await bodies.getMany(refs.map((r) => r.id));
    const missing: BodyRef[] = [];
    for (const ref of refs) {
      const doc = docs.get(ref.id);
      // Newer than the row is fine: somebody saved between our two reads.
      if (!doc || doc.appliedVersion < ref.bodyVersion) {
        missing.push(ref);
        continue;
      }
      into.set(ref.id, asBody(doc.body));
      if (fill) {
        void cache.fill(
          { family: BODY_FAMILY, id: ref.id },
          doc.appliedVersion,
          asBody(doc.body),
          BODY_TTL_SECONDS,
        );
      }
    }
    return missing;
  }

  async function fromPending(
    kind: BodyKind,
    refs: readonly BodyRef[],
    into: Map<string, Body>,
  ): Promise<BodyRef[]> {
    const pending = await pendingBodies(
      mysql.db,
      kind,
      refs.map((r) => r.id),
    );
    return refs.filter((ref) => {
      const body = pending.get(ref.id)?.get(ref.bodyVersion);
      if (body) into.set(ref.id, body);
      return !body;
    });
  }

  return {
    async many(kind, refs) {
      const found = new Map<string, Body>();
      const waiting = refs.filter((r) => r.storedVersion < r.bodyVersion);
      const stored = refs.filter((r) => r.storedVersion >= r.bodyVersion);
      const [confirmedMeanwhile, cached] = await Promise.all([
        waiting.length > 0 ? fromPending(kind, waiting, found) : [],
        cache.getMany(
          BODY_FAMILY,
          stored.map((r) => r.id),
        ),
      ]);
      const wanted = [...confirmedMeanwhile];
      for (const ref of stored) {
        const entry = cached.entries.get(ref.id);
        if (entry && entry.version >= ref.bodyVersion) found.set(ref.id, asBody(entry.body));
        else wanted.push(ref);
      }
      if (wanted.length === 0) return found;
      let missing = await fromCloudant(wanted, cached.available, found);
      if (missing.length > 0) {
        // A replica can lag behind the write that was confirmed; ask once more, then look whether the text waits again.
        await pause(50);
        missing = await fromCloudant(missing, cached.available, found);
        if (missing.length > 0) missing = await fromPending(kind, missing, found);
      }
      if (missing.length > 0) {
        throw new StoreUnavailableError('cloudant', {
          detail: `${missing.length} confirmed texts are not there yet`,
        });
      }
      return found;
    },
    async history(id, versions) {
      const found = new Map<number, Body>();
      const pending = (await pendingBodies(mysql.db, 'idea', [id])).get(id) ?? new Map<number, Body>();
      for (const version of versions) {
        const body = pending.get(version);
        if (body) found.set(version, body);
      }
      const rest = versions.filter((v) => !found.has(v));
      if (rest.length > 0) {
        for (const [version, body] of await bodies.revisions(id, rest)) found.set(version, asBody(body));
      }
      return found;
    },
  };
}

const asBody = (body: unknown): Body => ({ text: String((body as { text?: unknown }).text ?? '') });
