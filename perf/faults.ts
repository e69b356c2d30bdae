/**
 * `npm run test:faults [-- --short] [<name> ...]`: named faults, each on real processes under load, each followed by the
 * comparison of all stores. A name is a part of a fault's name.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { LauncherError, type StoreName } from '@sparkroom/local';
import { insertEvent, MAX_PAYLOAD, PARTITIONS } from '@sparkroom/mysql';
import { sql } from 'kysely';
import { atEnd } from './lib/at-end.ts';
import { Commands } from './lib/commands.ts';
import { type FaultSite, type MemberName, startFaultSite } from './lib/fault-site.ts';
import { type CloudantMode, type FaultyCloudant, startFaultyCloudant } from './lib/faulty-cloudant.ts';
import { machineFacts } from './lib/machine.ts';
import { repository } from './lib/programs.ts';
import { figure, publish, table } from './lib/report.ts';
import { Judge, type Verdict } from './lib/verdict.ts';

interface Scene {
  site: FaultSite;
  judge: Judge;
  cloudant: FaultyCloudant;
  signal: AbortSignal;
}

/** A fault is brought about here, or by a test of `npm test`, or not yet. `number`: in the list that the issue names. */
interface Fault {
  name: string;
  number?: number;
  /** Under load. @throws Error when the fault did not come about, or when something beside the verdict is wrong */
  run?(scene: Scene): Promise<void>;
  /** Where it is: a file, and the words of the test. */
  test?: readonly [file: string, name: string];
}

const wait = (ms: number, { signal }: Scene): Promise<void> => pause(ms, undefined, { signal });

async function until(what: string, ms: number, condition: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`${what} did not come about within ${ms} ms`);
    await pause(50);
  }
}

async function storeAway(scene: Scene, store: StoreName, ms: number): Promise<void> {
  await scene.site.stack.kill(store);
  await wait(ms, scene);
  await scene.site.stack.restart(store);
}

async function killAgain(scene: Scene, name: MemberName, times: number): Promise<void> {
  const member = scene.site.members[name];
  for (let i = 0; i < times; i++) {
    await member.kill();
    await member.start();
    await wait(500, scene);
  }
}

/** Sessions that hold the relays' locks, one for each partition that is held. */
async function lockHolders({ judge }: Scene): Promise<string[]> {
  const holders: string[] = [];
  for (let partition = 0; partition < PARTITIONS; partition++) {
    const { rows } = await sql<{ id: string | null }>`
      select is_used_lock(concat(left(database(), 40), ':outbox:', ${partition})) as id`.execute(
      judge.mysql.db,
    );
    if (rows[0]?.id) holders.push(String(rows[0].id));
  }
  return holders;
}

const allHeld = (scene: Scene): Promise<void> =>
  until('a relay for every partition', 30_000, async () => (await lockHolders(scene)).length === PARTITIONS);

async function killSessions(scene: Scene): Promise<void> {
  const holders = await lockHolders(scene);
  if (holders.length === 0) throw new Error('no relay held a lock');
  for (const id of new Set(holders))
    await sql`kill ${sql.lit(Number(id))}`.execute(scene.judge.mysql.db).catch(() => undefined);
}

/** Freezes a store, so that the relays wait for it in the middle of their work, kills both workers, and thaws it. */
async function killWhileWaiting(scene: Scene, store: StoreName): Promise<void> {
  const { stack, members } = scene.site;
  await stack.kill(store, 'SIGSTOP');
  try {
    await wait(1_500, scene);
    await Promise.all([members.worker1.kill(), members.worker2.kill()]);
  } finally {
    await stack.kill(store, 'SIGCONT');
  }
  await Promise.all([members.worker1.start(), members.worker2.start()]);
}

async function throughCloudant(scene: Scene, mode: CloudantMode): Promise<void> {
  const { cloudant } = scene;
  const before = cloudant.met;
  cloudant.mode = mode;
  try {
    await wait(5_000, scene);
  } finally {
    cloudant.mode = 'pass';
  }
  if (cloudant.met === before) throw new Error('no request met the trouble');
}

async function flushRedis({ site }: Scene): Promise<void> {
  const url = new URL(site.stack.redisUrl);
  const socket = connect(Number(url.port), url.hostname);
  socket.setTimeout(2_000, () => socket.destroy(new Error('Redis did not answer')));
  socket.write('FLUSHALL\r\n');
  const [answer] = await once(socket, 'data');
  socket.destroy();
  if (!String(answer).startsWith('+OK')) throw new Error(`Redis answered ${String(answer).trim()}`);
}

/** Environment of a Node program whose wall clock is wrong. */
function clockOff(ms: number): NodeJS.ProcessEnv {
  const code = `const Right = Date; globalThis.Date = class Date extends Right {
    constructor(...given) { given.length > 0 ? super(...given) : super(Right.now() + ${ms}); }
    static now() { return Right.now() + ${ms}; }
  };`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}` };
}

const short = process.argv.includes('--short');

const faults: readonly Fault[] = [
  {
    number: 1,
    name: 'workers killed while marks wait for MySQL',
    run: (scene) => killWhileWaiting(scene, 'mysql'),
  },
  {
    number: 2,
    name: 'relay back after the duplicate window',
    test: ['packages/events/test/relay.test.ts', 'comes back after the duplicate window'],
  },
  {
    number: 3,
    name: 'workers killed while publishes wait for NATS',
    run: (scene) => killWhileWaiting(scene, 'nats'),
  },
  { number: 4, name: 'server killed under load', run: (scene) => killAgain(scene, 'server1', 3) },
  {
    number: 5,
    name: 'relay frozen with rows in hand, lock gone',
    async run(scene) {
      const { worker1, worker2 } = scene.site.members;
      // All partitions are the one's that is going to be frozen.
      await worker2.kill();
      await allHeld(scene);
      worker1.freeze();
      try {
        await killSessions(scene);
        await worker2.start();
        await allHeld(scene);
        await wait(3_000, scene);
      } finally {
        worker1.thaw();
      }
      await wait(1_000, scene);
    },
  },
  {
    number: 6,
    name: 'relay sessions killed by MySQL',
    async run(scene) {
      for (let i = 0; i < 3; i++) {
        await allHeld(scene);
        await killSessions(scene);
        await wait(700, scene);
      }
    },
  },
  ...(short ? [1] : [1, 10, 60]).map(
    (seconds): Fault => ({
      number: 7,
      name: `NATS killed for ${seconds} s`,
      run: (scene) => storeAway(scene, 'nats', seconds * 1_000),
    }),
  ),
  {
    number: 8,
    name: 'NATS store rolled back',
    async run(scene) {
      const { stack, dir } = scene.site;
      const { events } = scene.judge;
      /** 0: no answer, it has just been started. */
      const stored = (): Promise<number> =>
        events.manager.streams.info(events.stream).then(
          ({ state }) => state.last_seq,
          () => 0,
        );
      const data = join(dir, 'data', 'nats');
      await stack.kill('nats');
      await rm(`${data}-copy`, { recursive: true, force: true });
      await cp(data, `${data}-copy`, { recursive: true });
      await stack.restart('nats');
      let before = 0;
      await until('an answer of NATS', 15_000, async () => {
        before = await stored();
        return before > 0;
      });
      await until('new events', 15_000, async () => (await stored()) > before + 20);
      await stack.kill('nats');
      await rm(data, { recursive: true });
      await cp(`${data}-copy`, data, { recursive: true });
      await stack.restart('nats');
      await rm(`${data}-copy`, { recursive: true });
    },
  },
  {
    number: 9,
    name: 'stream purged',
    async run({ judge: { events } }) {
      const { purged } = await events.manager.streams.purge(events.stream);
      if (purged === 0) throw new Error('nothing was purged');
    },
  },
  {
    number: 9,
    name: 'stream deleted and made anew',
    async run({ judge: { events } }) {
      await events.manager.streams.delete(events.stream);
      await events.ensureStream();
    },
  },
  {
    number: 10,
    name: 'commits out of order',
    test: ['packages/mysql/test/outbox.test.ts', 'sees an event that commits after a later one'],
  },
  {
    number: 11,
    name: 'deadlock',
    test: ['packages/mysql/test/transactions.test.ts', 'that meets a deadlock is repeated as a whole'],
  },
  {
    number: 11,
    name: 'lock wait',
    test: [
      'packages/mysql/test/transactions.test.ts',
      'that waits too long for a lock is repeated as a whole',
    ],
  },
  {
    number: 12,
    name: 'answer to COMMIT lost',
    test: ['packages/mysql/test/commit.test.ts', 'leaves an unknown outcome, and is not repeated'],
  },
  {
    number: 13,
    name: 'MySQL lost its last transactions',
    test: ['packages/events/test/auditor.test.ts', 'reports an event that the database has lost'],
  },
  {
    number: 14,
    name: 'clocks of workers and consumer ten minutes off',
    async run(scene) {
      const { worker1, worker2, effects } = scene.site.members;
      const skewed = [
        [worker1, 10],
        [worker2, -10],
        [effects, -10],
      ] as const;
      for (const [member, minutes] of skewed) {
        await member.stop();
        await member.start(clockOff(minutes * 60_000));
      }
      await wait(3_000, scene);
      // Back again: time jumps for what was written meanwhile.
      for (const [member] of skewed) {
        await member.stop();
        await member.start();
      }
    },
  },
  {
    number: 15,
    name: 'poison',
    test: ['packages/events/test/consumer.test.ts', 'makes poison a dead letter'],
  },
  {
    number: 16,
    name: 'handler slower than the acknowledgement wait',
    test: ['packages/events/test/consumer.test.ts', 'does not deliver again while a handler is slower'],
  },
  {
    number: 17,
    name: 'two deliveries at the same moment',
    test: ['packages/mysql/test/outbox.test.ts', 'lets one of two deliveries at the same moment'],
  },
  { number: 18, name: 'consumer killed under load', run: (scene) => killAgain(scene, 'effects', 4) },
  {
    number: 19,
    name: 'consumer frozen, relay goes on',
    async run(scene) {
      const { effects } = scene.site.members;
      const { events } = scene.judge;
      const storedNow = async (): Promise<number> =>
        (await events.manager.streams.info(events.stream)).state.messages;
      effects.freeze();
      try {
        const before = await storedNow();
        await wait(8_000, scene);
        if ((await storedNow()) < before + 50) throw new Error('the relay stored next to nothing meanwhile');
      } finally {
        effects.thaw();
      }
    },
  },
  { number: 19, name: 'backlog of a million events' },
  {
    number: 20,
    name: 'unknown type, newer schema',
    test: ['packages/events/test/consumer.test.ts', 'parks %s at once with its reason'],
  },
  {
    number: 21,
    name: 'payload beyond the limit refused in the command',
    async run({ judge: { mysql } }) {
      const id = '01FA0TT00BG00000000000000Z';
      const name = 'x'.repeat(MAX_PAYLOAD);
      const refused = await mysql
        .transaction((trx) =>
          insertEvent(trx, {
            id,
            type: 'client.created',
            aggregateId: id,
            aggregateVersion: 1,
            workspaceId: null,
            actorId: null,
            requestId: null,
            payload: { name },
          }),
        )
        .then(
          () => false,
          (error: unknown) => String(error).includes('too large'),
        );
      if (!refused) throw new Error('an event beyond the limit was taken');
      const { rows } = await sql`select id from outbox where event_id = ${id}`.execute(mysql.db);
      if (rows.length > 0) throw new Error('a refused event is in the outbox');
    },
  },
  {
    number: 22,
    name: 'SIGTERM of everything of ours under load',
    async run(scene) {
      const { events } = scene.judge;
      for (const name of ['effects', 'worker1', 'server1'] as const) {
        await scene.site.members[name].stop();
        await scene.site.members[name].start();
      }
      const { num_redelivered } = await events.manager.consumers.info(events.stream, 'effects-v1');
      // What was on its way to the one that left may come again; a storm is more than its hands.
      if (num_redelivered > 16) throw new Error(`${num_redelivered} events were delivered again`);
    },
  },
  { name: 'Redis killed and restarted', run: (scene) => storeAway(scene, 'redis', 2_000) },
  {
    name: 'Redis flushed',
    async run(scene) {
      for (let i = 0; i < 3; i++) {
        await flushRedis(scene);
        await wait(500, scene);
      }
    },
  },
  { name: 'MySQL killed and restarted', run: (scene) => storeAway(scene, 'mysql', 2_000) },
  { name: 'Cloudant killed and restarted', run: (scene) => storeAway(scene, 'cloudant', 2_000) },
  ...(['409', '429', '500', 'cut', 'hang'] as const).map(
    (mode): Fault => ({ name: `Cloudant ${mode}`, run: (scene) => throughCloudant(scene, mode) }),
  ),
];

interface Row {
  name: string;
  number: number | null;
  result: 'pass' | 'FAIL' | 'in npm test' | 'not built';
  verdict: Verdict | null;
  trace: string[];
}

/** A test that is pointed to must be there. */
function referred({ name, number = 0, test: [file, words] = ['', ''] }: Fault): Row {
  const isThere = readFileSync(join(repository, file), 'utf8').includes(words);
  const trace = isThere ? [] : [`${file} has no test "${words}"`];
  return { name, number, result: isThere ? 'in npm test' : 'FAIL', verdict: null, trace };
}

async function suffer(fault: Fault, scene: Scene, seed: number): Promise<Row> {
  const { site, judge } = scene;
  const trace: string[] = [];
  const commands = new Commands(site.urls, seed, `f${seed}-${Date.now().toString(36)}`);
  await commands.prepare();
  await judge.begin();
  commands.start();
  try {
    await wait(1_500, scene);
    await fault.run?.(scene);
    await wait(1_500, scene);
  } catch (error) {
    scene.signal.throwIfAborted();
    trace.push(error instanceof Error ? error.message : String(error));
  } finally {
    await commands.stop();
    await commands.stopProbing();
  }
  const verdict = await judge.judge(commands, 120_000);
  trace.push(...verdict.trace);
  const { lost, doubled, reordered, drift } = verdict;
  const ok = trace.length === 0 && lost + doubled + reordered + drift === 0;
  return { name: fault.name, number: fault.number ?? null, result: ok ? 'pass' : 'FAIL', verdict, trace };
}

async function main(signal: AbortSignal): Promise<boolean> {
  const { positionals } = parseArgs({
    options: { short: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const chosen = faults.filter(
    ({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)),
  );
  if (chosen.length === 0)
    throw new LauncherError(
      'bad-setting',
      `No fault has such a name. There are:\n${faults.map(({ name }) => `  ${name}`).join('\n')}`,
    );
  const machine = machineFacts();
  const rows: Row[] = [];
  for (const fault of chosen) {
    if (fault.test) rows.push(referred(fault));
    else if (!fault.run)
      rows.push({
        name: fault.name,
        number: fault.number ?? null,
        result: 'not built',
        verdict: null,
        trace: [],
      });
  }
  const toRun = chosen.filter((fault) => fault.run);
  if (toRun.length > 0) await runAll(toRun, rows, signal);
  rows.sort((a, b) => (a.number ?? 99) - (b.number ?? 99));

  const count = (result: Row['result']): number => rows.filter((row) => row.result === result).length;
  console.log(
    `\n${table(
      ['fault', 'no.', 'acknowledged', 'lost', 'doubled', 'reordered', 'drift', 'settled s', 'result'],
      rows.map(({ name, number, verdict, result }) => [
        name,
        number === null ? '-' : String(number),
        ...(verdict
          ? [
              ...[verdict.acknowledged, verdict.lost, verdict.doubled, verdict.reordered, verdict.drift].map(
                (n) => figure(n),
              ),
              figure(verdict.settledSeconds, 1),
            ]
          : ['', '', '', '', '', '']),
        result,
      ]),
      new Set(rows.flatMap(({ result }, i) => (result === 'FAIL' || result === 'not built' ? [i] : []))),
    )}\n`,
  );
  for (const { name, result, trace } of rows)
    if (result === 'FAIL') console.log(`${name}:\n  ${trace.join('\n  ')}`);
  const notBuilt = rows.filter(({ result }) => result === 'not built').map(({ name }) => name);
  if (notBuilt.length > 0) console.log(`not built: ${notBuilt.join('; ')}`);
  const pass = count('FAIL') + notBuilt.length === 0;
  const result = {
    name: 'faults',
    pass,
    passed: count('pass'),
    failed: count('FAIL'),
    inNpmTest: count('in npm test'),
    notBuilt,
    filters: positionals,
    short,
    rows,
    machine,
    at: new Date().toISOString(),
  };
  // A part of the faults is not the result.
  if (positionals.length === 0) await publish('faults', result);
  else console.log(`RESULT ${JSON.stringify(result)}`);
  return pass;
}

async function runAll(toRun: readonly Fault[], rows: Row[], signal: AbortSignal): Promise<void> {
  let cloudant: FaultyCloudant | undefined;
  try {
    const site = await startFaultSite('faults', signal, async ({ SPARKROOM_CLOUDANT_URL = '' }) => {
      cloudant = await startFaultyCloudant(SPARKROOM_CLOUDANT_URL);
      return { SPARKROOM_CLOUDANT_URL: cloudant.url };
    });
    atEnd(() => site.stop());
    try {
      const judge = await Judge.open(site.env, site.urls);
      try {
        if (!cloudant) throw new Error('The proxy is missing.');
        const scene: Scene = { site, judge, cloudant, signal };
        for (const [i, fault] of toRun.entries()) {
          signal.throwIfAborted();
          const row = await suffer(fault, scene, i + 1);
          rows.push(row);
          console.log(`  ${row.result}  ${row.name}`);
        }
      } finally {
        await judge.close();
      }
    } finally {
      await site.stop();
    }
  } finally {
    await cloudant?.close();
  }
}

const interrupt = new AbortController();
atEnd(() => interrupt.abort(new Error('Interrupted.')));
try {
  process.exitCode = (await main(interrupt.signal)) ? 0 : 1;
} catch (error) {
  console.error(error instanceof LauncherError ? error.message : error);
  process.exitCode = 1;
}
