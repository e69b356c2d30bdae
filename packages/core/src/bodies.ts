import { setTimeout as pause } from 'node:timers/promises';
import type { Cache, Versioned } from '@sparkroom/cache';
import type { Cloudant } from '@sparkroom/cloudant';
import type { Body } from '@sparkroom/contract';
import { type BodyKind, type Mysql, pendingBodies } from '@sparkroom/mysql';
import { StoreUnavailableError } from '@sparkroom/pools';
import { BODY } from './families.ts';

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
    into: Map<string, Versioned<Body>>,
  ): Promise<BodyRef[]> {
    const docs = await bodies.getMany(refs.map((r) => r.id));
    return refs.filter((ref) => {
      const doc = docs.get(ref.id);
      // Newer than the row is fine: somebody saved between our two reads.
      if (!doc || doc.appliedVersion < ref.bodyVersion) return true;
      into.set(ref.id, { version: doc.appliedVersion, value: asBody(doc.body) });
      return false;
    });
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
      refs.map((r) => r.bodyVersion),
    );
    return refs.filter((ref) => {
      const body = pending.get(ref.id)?.get(ref.bodyVersion);
      if (body) into.set(ref.id, body);
      return !body;
    });
  }

  /** Texts that the document store has for sure. */
  async function load(kind: BodyKind, refs: readonly BodyRef[]): Promise<Map<string, Versioned<Body>>> {
    const found = new Map<string, Versioned<Body>>();
    let missing = await fromCloudant(refs, found);
    if (missing.length > 0) {
      // A replica can lag behind the write that was confirmed; ask once more, then look whether the text waits again.
      await pause(50);
      missing = await fromCloudant(missing, found);
    }
    if (missing.length > 0) {
      const waiting = new Map<string, Body>();
      missing = await fromPending(kind, missing, waiting);
      for (const ref of refs) {
        const value = waiting.get(ref.id);
        if (value) found.set(ref.id, { version: ref.bodyVersion, value });
      }
    }
    if (missing.length > 0) {
      throw new StoreUnavailableError('cloudant', {
        detail: `${missing.length} confirmed texts are not there yet`,
      });
    }
    return found;
  }

  return {
    async many(kind, refs) {
      const found = new Map<string, Body>();
      const unconfirmed = refs.filter((r) => r.storedVersion < r.bodyVersion);
      // What no longer waits has been confirmed since the row was read.
      const confirmed = unconfirmed.length > 0 ? await fromPending(kind, unconfirmed, found) : [];
      const stored = [...confirmed, ...refs.filter((r) => r.storedVersion >= r.bodyVersion)];
      const cached = await cache.readMany(BODY, new Map(stored.map((r) => [r.id, r.bodyVersion])), (ids) =>
        load(
          kind,
          stored.filter((r) => ids.includes(r.id)),
        ),
      );
      for (const [id, body] of cached) found.set(id, body);
      return found;
    },
    async history(id, versions) {
      const found = new Map<number, Body>((await pendingBodies(mysql.db, 'idea', [id], versions)).get(id));
      const rest = versions.filter((v) => !found.has(v));
      if (rest.length > 0) {
        for (const [version, body] of await bodies.revisions(id, rest)) found.set(version, asBody(body));
      }
      return found;
    },
  };
}

const asBody = (body: unknown): Body => ({ text: String((body as { text?: unknown }).text ?? '') });
