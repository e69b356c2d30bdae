import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Cloudant,
  type CloudantSettings,
  type Database,
  type DeployStep,
  defineDesign,
  deployDesign,
  openCloudant,
} from '../src/index.ts';
import { json, openTestCloudant, startProxy } from './support.ts';

let cloudant: Cloudant;
let database: Database;
let settings: CloudantSettings;
let dispose: () => Promise<void>;
const documents = 300;
beforeAll(async () => {
  ({ cloudant, settings, dispose } = await openTestCloudant());
  database = cloudant.database('legacy');
  await database.bulk(
    Array.from({ length: documents }, (_, i) => ({
      _id: `d${String(i).padStart(5, '0')}`,
      type: 'user',
      n: i,
    })),
  );
});
afterAll(() => dispose());

const numbers = (name: string, version: number, value: string) =>
  defineDesign({
    name,
    version,
    views: { numbers: { map: `function (doc) { if (doc.n !== undefined) { emit(doc.n, ${value}); } }` } },
  });

const steps = async (design: Parameters<typeof deployDesign>[1], on = database) => {
  const told: DeployStep['step'][] = [];
  await deployDesign(on, design, { onStep: ({ step }) => told.push(step) });
  return told;
};

const leftovers = async (name: string) => database.idsBetween(`_design/${name}@`, `_design/${name}@\ufff0`);

describe('deployDesign', () => {
  it('builds beside, switches, leaves nothing behind, and does nothing the second time', async () => {
    const design = numbers('first', 1, '1');
    expect(await steps(design)).toEqual(['build', 'switch', 'done']);
    const stored = await database.get('_design/first');
    expect(stored).toMatchObject({ language: 'javascript', sparkroom: { version: 1 } });
    expect(await leftovers('first')).toEqual([]);
    expect(await steps(design)).toEqual(['unchanged']);
    expect((await database.get('_design/first'))?._rev).toBe(stored?._rev);
    expect((await database.view('first', 'numbers', { key: 7 })).map((row) => row.value)).toEqual([1]);
  });

  it('lets readers of the old view have answers all the time, however long the build takes', async () => {
    await deployDesign(database, numbers('readers', 1, "'old'"));
    const design = numbers('readers', 2, "'new'");
    const newView = `/_design/readers%40${design.hash}_NEW/_view/`;
    const building = Promise.withResolvers<void>();
    const built = Promise.withResolvers<void>();
    let interrupted = false;
    // What CouchDB says when a build outlasts its own limit; the deployment must ask again.
    const proxy = await startProxy(settings.url, async (request, response) => {
      if (!request.path.includes(newView)) return false;
      if (!interrupted) {
        interrupted = true;
        json(response, 500, { error: 'timeout', reason: 'The request could not be processed in time.' });
        return true;
      }
      building.resolve();
      await built.promise;
      return false;
    });
    const deployer = openCloudant({ ...settings, url: proxy.url });
    const seen: unknown[] = [];
    let stop = false;
    const reader = async () => {
      while (!stop) {
        const rows = await database.view('readers', 'numbers', { key: 7 });
        // Never an error, never an empty answer: the old value or the new.
        seen.push(rows.length === 1 ? rows[0]?.value : rows);
      }
    };
    const reading = Promise.all([reader(), reader()]);
    const told: DeployStep['step'][] = [];
    const deployment = deployDesign(deployer.database('legacy'), design, {
      onStep: ({ step }) => told.push(step),
    });
    try {
      await Promise.race([building.promise, deployment]);
      const before = seen.length;
      await expect.poll(() => seen.length, { timeout: 20_000 }).toBeGreaterThan(before + 10);
      expect(told).toEqual(['build']);
      expect(new Set(seen)).toEqual(new Set(['old']));
      built.resolve();
      await deployment;
      expect(told).toEqual(['build', 'switch', 'done']);
      const after = seen.length;
      await expect.poll(() => seen.length, { timeout: 20_000 }).toBeGreaterThan(after + 4);
    } finally {
      built.resolve();
      stop = true;
      await reading;
      await deployer.close();
      await proxy.close();
    }
    expect(new Set(seen)).toEqual(new Set(['old', 'new']));
    expect(seen.at(-1)).toBe('new');
  });

  it('gives up when the build takes longer than it may, and leaves the old view', async () => {
    await deployDesign(database, numbers('too-long', 1, "'old'"));
    const proxy = await startProxy(settings.url, async (request) => {
      if (request.path.includes('_NEW/_view/')) await new Promise(() => {});
      return false;
    });
    const deployer = openCloudant({ ...settings, url: proxy.url });
    try {
      const design = numbers('too-long', 2, "'new'");
      await expect(deployDesign(deployer.database('legacy'), design, { buildMs: 200 })).rejects.toMatchObject(
        { name: 'StoreUnavailableError', store: 'cloudant' },
      );
      expect(await database.get('_design/too-long')).toMatchObject({ sparkroom: { version: 1 } });
    } finally {
      await deployer.close();
      await proxy.close();
    }
  });

  it('is safe when several deploy the same at once', async () => {
    await deployDesign(database, numbers('together', 1, "'old'"));
    const design = numbers('together', 2, "'new'");
    const told = await Promise.all([steps(design), steps(design), steps(design)]);
    expect(told.every((list) => ['done', 'unchanged'].includes(list.at(-1) ?? ''))).toBe(true);
    expect(await database.get('_design/together')).toMatchObject({ sparkroom: { version: 2 } });
    expect(await leftovers('together')).toEqual([]);
    expect((await database.view('together', 'numbers', { key: 7 })).map((row) => row.value)).toEqual(['new']);
  });

  it('ends with the higher version when two different ones are deployed at once', async () => {
    const told = await Promise.all([steps(numbers('race', 1, "'old'")), steps(numbers('race', 2, "'new'"))]);
    expect(told.every((list) => ['done', 'unchanged', 'newer-is-there'].includes(list.at(-1) ?? ''))).toBe(
      true,
    );
    expect(await database.get('_design/race')).toMatchObject({ sparkroom: { version: 2 } });
    expect(await leftovers('race')).toEqual([]);
  });

  it('leaves a newer version alone', async () => {
    await deployDesign(database, numbers('newer', 2, "'new'"));
    expect(await steps(numbers('newer', 1, "'old'"))).toEqual(['newer-is-there']);
    expect(await database.get('_design/newer')).toMatchObject({ sparkroom: { version: 2 } });
  });

  it('goes on where a crashed deployment stopped, and cleans up after it', async () => {
    const design = numbers('crashed', 2, "'new'");
    await database.put({ _id: `_design/crashed@${design.hash}_NEW`, ...design.content });
    const older = numbers('crashed', 1, "'old'");
    await database.put({ _id: `_design/crashed@${older.hash}_NEW`, ...older.content });
    expect(await steps(design)).toEqual(['build', 'switch', 'done']);
    expect(await leftovers('crashed')).toEqual([]);
    // It died after the switch and before the end.
    await database.put({ _id: `_design/crashed@${design.hash}_NEW`, ...design.content });
    expect(await steps(design)).toEqual(['unchanged']);
    expect(await leftovers('crashed')).toEqual([]);
  });

  it('replaces what somebody changed by hand', async () => {
    const design = numbers('by-hand', 1, '1');
    await deployDesign(database, design);
    const stored = await database.get('_design/by-hand');
    await database.put({ ...design.content, _id: '_design/by-hand', _rev: stored?._rev ?? '', views: {} });
    expect(await steps(design)).toEqual(['build', 'switch', 'done']);
  });

  it('deploys and changes a Mango index, which is then used', async () => {
    const query = (index: string) => ({
      selector: { type: 'user', n: { $gte: 298 } },
      use_index: [`_design/${index}`, 'lookup'] as [string, string],
    });
    const index = (version: number, fields: string[]) =>
      defineDesign({ name: 'mango', version, index: { name: 'lookup', fields } });
    expect(await steps(index(1, ['n']))).toEqual(['build', 'switch', 'done']);
    expect(await steps(index(2, ['type', 'n']))).toEqual(['build', 'switch', 'done']);
    expect(await leftovers('mango')).toEqual([]);
    expect((await database.explain(query('mango'))).index).toMatchObject({
      ddoc: '_design/mango',
      name: 'lookup',
      type: 'json',
    });
    const found = await database.find<{ n: number }>(query('mango'));
    expect(found.map((doc) => doc.n)).toEqual([298, 299]);
  });
});

describe('ensureDatabases and ping', () => {
  it('can be repeated, and the ping answers', async () => {
    await cloudant.ensureDatabases();
    await cloudant.ping(AbortSignal.timeout(5000));
  });

  it('does not take a missing database for a missing document', async () => {
    await expect(cloudant.database('nowhere').get('a')).rejects.toMatchObject({ statusCode: 404 });
  });
});
