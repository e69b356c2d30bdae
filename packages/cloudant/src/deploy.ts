import { setTimeout as pause } from 'node:timers/promises';
import { deadlineIn, StoreUnavailableError } from '@sparkroom/pools';
import { type Database, hasStatus, type StoredDocument } from './database.ts';
import { type Design, hashOf } from './design.ts';
import { CloudantError } from './errors.ts';

/** What a deployment is doing: told before each step, and once at the end of each design document. */
export interface DeployStep {
  database: string;
  design: string;
  step: 'unchanged' | 'newer-is-there' | 'build' | 'switch' | 'done';
}

export interface DeployOptions {
  onStep?: (step: DeployStep) => void;
  signal?: AbortSignal;
  /** Milliseconds that building one design document may take, 30 minutes when left out. */
  buildMs?: number;
}

/** One query waits this long for the index; then it is asked again, and the server goes on building meanwhile. */
const probeMs = 20_000;
const probePauseMs = 250;
const maxRounds = 10;

/**
 * Brings one design document to what the code says without making readers wait: the new content is stored beside the
 * old under `<name>@<hash>_NEW` and built there; then the same content goes to `<name>`, where CouchDB finds its index
 * built, since indexes are shared by content; then `_NEW` is deleted. The old document answers until the switch.
 * (IBM: "Design document management", move and switch.)
 *
 * Does nothing when the content is already there or a newer version is. Two deployments at once end with the content
 * of the higher version, both successful; so does one that follows a crashed one.
 * @throws what `Transport.request` throws; StoreUnavailableError when the build takes longer than `buildMs`.
 */
export async function deployDesign(
  database: Database,
  design: Design,
  options: DeployOptions = {},
): Promise<void> {
  const tell = (step: DeployStep['step']) =>
    options.onStep?.({ database: database.name, design: design.name, step });
  const call = options.signal ? { signal: options.signal } : {};
  const finalId = `_design/${design.name}`;
  const newName = `${design.name}@${design.hash}_NEW`;
  let worked = false;

  for (let round = 0; round < maxRounds; round += 1) {
    const stored = await database.get(finalId, call);
    const state = stateOf(stored, design);
    if (state !== 'old') {
      // A deployment that died between the switch and the end has left this behind.
      await deleteLeftovers(database, design, call);
      tell(worked ? 'done' : state);
      return;
    }
    worked = true;
    tell('build');
    const newRev = await putIfMissing(database, `_design/${newName}`, design, call);
    // Somebody else's deployment of the same content may end first and delete what we are building: look again.
    if (!(await build(database, newName, design, options))) continue;
    tell('switch');
    try {
      const rev = stored ? { _rev: stored._rev } : {};
      await database.put({ _id: finalId, ...rev, ...design.content }, { ...call, idempotent: true });
    } catch (error) {
      if (!hasStatus(error, 409)) throw error;
      continue;
    }
    await database.delete(`_design/${newName}`, newRev, call);
  }
  throw new CloudantError(
    { statusCode: 409, headers: {} },
    'conflict',
    `Design document ${design.name} was changed by others ${maxRounds} times in a row.`,
  );
}

function stateOf(stored: StoredDocument | null, design: Design): 'old' | 'unchanged' | 'newer-is-there' {
  if (!stored) return 'old';
  if (versionOf(stored) > design.version) return 'newer-is-there';
  return hashOf(stored) === design.hash ? 'unchanged' : 'old';
}

function versionOf(stored: StoredDocument): number {
  const ours = stored.sparkroom as { version?: unknown } | undefined;
  return typeof ours?.version === 'number' ? ours.version : 0;
}

async function putIfMissing(
  database: Database,
  id: string,
  design: Design,
  call: { signal?: AbortSignal },
): Promise<string> {
  for (let attempt = 0; attempt < maxRounds; attempt += 1) {
    const there = await database.get(id, call);
    if (there) return there._rev;
    try {
      return await database.put({ _id: id, ...design.content }, { ...call, idempotent: true });
    } catch (error) {
      if (!hasStatus(error, 409)) throw error;
    }
  }
  throw new CloudantError({ statusCode: 409, headers: {} }, 'conflict', `${id} kept changing.`);
}

/** Asks until the index answers. @returns false when the design document is gone. */
async function build(
  database: Database,
  name: string,
  design: Design,
  { signal, buildMs = 30 * 60_000 }: DeployOptions,
): Promise<boolean> {
  const end = deadlineIn(buildMs);
  for (;;) {
    const call = {
      cls: 'slow' as const,
      retry: false,
      deadline: Math.min(end, deadlineIn(probeMs)),
      ...(signal ? { signal } : {}),
    };
    try {
      await probe(database, name, design, call);
      // `_find` falls back to a scan when its index is gone, so whether it is still there decides.
      return (await database.get(`_design/${name}`, signal ? { signal } : {})) !== null;
    } catch (error) {
      if (hasStatus(error, 404)) return false;
      // Too slow for one request, or the server's own limit for a query: it builds on.
      const goesOn = error instanceof StoreUnavailableError || hasStatus(error, 500);
      if (!goesOn || performance.now() >= end) throw error;
    }
    await pause(probePauseMs, undefined, signal ? { signal } : {});
  }
}

async function probe(
  database: Database,
  name: string,
  design: Design,
  call: { cls: 'slow'; retry: boolean; deadline: number; signal?: AbortSignal },
): Promise<void> {
  const { kind } = design;
  if (kind.type === 'views') {
    for (const view of kind.names) await database.view(name, view, { limit: 1, reduce: false }, call);
    return;
  }
  await database.find(
    {
      selector: Object.fromEntries(kind.fields.map((field) => [field, { $gt: null }])),
      use_index: [`_design/${name}`, kind.name],
      limit: 1,
    },
    call,
  );
}

/** Deletes this content's `_NEW` and those of older versions; a newer version's belongs to a running deployment. */
async function deleteLeftovers(
  database: Database,
  design: Design,
  call: { signal?: AbortSignal },
): Promise<void> {
  const first = `_design/${design.name}@`;
  for (const { id, rev } of await database.idsBetween(first, `${first}\ufff0`, call)) {
    if (!id.startsWith(first) || !id.endsWith('_NEW')) continue;
    const stored = await database.get(id, call);
    if (stored && versionOf(stored) <= design.version) await database.delete(id, rev, call);
  }
}
