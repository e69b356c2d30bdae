/** `npm run perf:api [-- --short] [--concurrency 160] [--loops 10]`: the five calls of the article's rule, measured. */
import { parseArgs } from 'node:util';
import { LauncherError } from '@sparkroom/local';
import { openMysql, readMysqlSettings } from '@sparkroom/mysql';
import { type ArticleSite, startArticleSite } from './lib/article-site.ts';
import type { LoadRequest, LoadResult } from './lib/load.ts';
import { startLoadClient } from './lib/load-client.ts';
import { cpuMicroseconds, machineFacts, peakMemoryMb } from './lib/machine.ts';
import { figure, publish, table } from './lib/report.ts';
import { signInVirtualUsers, type VirtualUser } from './lib/virtual-users.ts';

/** The article's rule: at 160 x 10 every response within 3 s. */
const barMs = 3000;

interface Row extends Omit<LoadResult, 'errorSamples' | 'bytes'> {
  name: string;
  /** Processor time of the server process for one request, in microseconds; and of the load generator. */
  serverCpuUs: number;
  loadCpuUs: number;
  kilobytes: number;
  pass: boolean;
}

type Make = (user: VirtualUser, loop: number) => LoadRequest;

const auth = (user: VirtualUser) => ({ authorization: `Bearer ${user.token}` });

function query(name: string, user: VirtualUser, input?: object): LoadRequest {
  const suffix = input ? `?input=${encodeURIComponent(JSON.stringify(input))}` : '';
  return { method: 'GET', path: `/trpc/${name}${suffix}`, headers: auth(user) };
}

function mutation(name: string, user: VirtualUser, input: object): LoadRequest {
  return {
    method: 'POST',
    path: `/trpc/${name}`,
    headers: { ...auth(user), 'content-type': 'application/json' },
    body: JSON.stringify(input),
  };
}

const nth = <T>(items: readonly T[], n: number): T => {
  const item = items[n % items.length];
  if (item === undefined) throw new Error('A virtual user has nothing to ask for.');
  return item;
};

const calls = {
  'me.clients': (user) => query('me.clients', user),
  'workspaces.list': (user) => query('workspaces.list', user),
  'ideas.list': (user, loop) => query('ideas.list', user, { workspaceId: nth(user.workspaces, loop) }),
  'ideas.ranking': (user, loop) => query('ideas.ranking', user, { workspaceId: nth(user.workspaces, loop) }),
  // Stars that change from run to run, so that there is a change to store.
  'ratings.set': (user, loop) =>
    mutation('ratings.set', user, {
      ideaId: nth(user.rateable, loop * 7),
      stars: 1 + ((loop + Math.floor(Date.now() / 1000)) % 5),
    }),
} satisfies Record<string, Make>;

/** What a working day is: mostly looking, sometimes rating. Twenty turns. */
const day: Array<keyof typeof calls> = [
  ...Array<'workspaces.list'>(3).fill('workspaces.list'),
  ...Array<'me.clients'>(2).fill('me.clients'),
  ...Array<'ideas.list'>(8).fill('ideas.list'),
  ...Array<'ideas.ranking'>(3).fill('ideas.ranking'),
  ...Array<'ratings.set'>(4).fill('ratings.set'),
];

function readArguments() {
  const { values } = parseArgs({
    options: {
      short: { type: 'boolean', default: false },
      concurrency: { type: 'string', default: '160' },
      loops: { type: 'string' },
    },
  });
  const concurrency = Number(values.concurrency);
  const loops = Number(values.loops ?? (values.short ? 2 : 10));
  for (const [name, value] of Object.entries({ concurrency, loops })) {
    if (!Number.isInteger(value) || value < 1 || value > 1000)
      throw new LauncherError('bad-setting', `--${name} takes a whole number from 1 to 1000.`);
  }
  return { concurrency, loops, short: values.short };
}

/** One sign-in by way of the front door: seeded passwords work, and the sessions below are of the same kind. */
async function checkFrontDoor(site: ArticleSite): Promise<void> {
  const answer = await fetch(`${site.url}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: site.url },
    body: JSON.stringify({ email: 'person0@article.sparkroom.example', password: 'sparkroom-demo' }),
  });
  const text = await answer.text();
  const token = answer.headers.get('set-auth-token');
  if (!answer.ok || !token) throw new Error(`Signing in failed: ${answer.status} ${text.slice(0, 200)}`);
  const me = await fetch(`${site.url}/trpc/me.get`, { headers: { authorization: `Bearer ${token}` } });
  if (!me.ok) throw new Error(`The token of a sign-in was refused: ${me.status}`);
}

async function measure(
  site: ArticleSite,
  options: ReturnType<typeof readArguments>,
  signal: AbortSignal,
): Promise<Row[]> {
  const { concurrency, loops } = options;
  await checkFrontDoor(site);
  const mysql = await openMysql({ ...readMysqlSettings(site.env), connections: 1, statementMs: 60_000 });
  const users = await signInVirtualUsers(mysql, site.env.SPARKROOM_AUTH_SECRET ?? '', concurrency).finally(
    () => mysql.close(),
  );
  const client = await startLoadClient();
  try {
    const load = (count: number, make: Make) =>
      client.run(
        site.url,
        users.map((user) => Array.from({ length: count }, (_, loop) => make(user, loop))),
      );
    // Opens the pools and lets the engine compile; every row's own data is still cold.
    await load(2, (user) => query('me.get', user));

    const plans: Array<[string, Make]> = [
      ...Object.entries<Make>(calls),
      ['mixed', (user, loop) => calls[nth(day, loop * 7 + user.id.charCodeAt(25))](user, loop)],
    ];
    const rows: Row[] = [];
    for (const [name, make] of plans) {
      const pids = [site.server.pid, client.pid];
      const before = pids.map(cpuMicroseconds);
      const { errorSamples, bytes, ...result } = await load(loops, make);
      signal.throwIfAborted();
      const cpu = pids.map((pid, i) => (cpuMicroseconds(pid) - (before[i] ?? 0)) / result.requests);
      for (const sample of errorSamples) console.error(`  ${name}: ${sample}`);
      rows.push({
        name,
        ...result,
        serverCpuUs: Math.round(cpu[0] ?? 0),
        loadCpuUs: Math.round(cpu[1] ?? 0),
        kilobytes: Math.round(bytes / result.requests / 102.4) / 10,
        pass: result.errors === 0 && result.ms.p99 < barMs,
      });
      console.log(`  ${name}: ${figure(result.perSecond)} requests/s, p99 ${figure(result.ms.p99)} ms`);
    }
    return rows;
  } finally {
    await client.stop();
  }
}

async function main(signal: AbortSignal): Promise<boolean> {
  const options = readArguments();
  const machine = machineFacts();
  const site = await startArticleSite((line) => console.log(`  ${line}`), signal);
  try {
    const interrupted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
    const rows = await Promise.race([measure(site, options, signal), interrupted]);
    const failed = new Set(rows.flatMap((row, i) => (row.pass ? [] : [i])));
    console.log(
      `\n${options.concurrency} at once, ${options.loops} calls each, 60,000 ideas, times in ms, bar: p99 below ${figure(barMs)}\n`,
    );
    console.log(
      table(
        [
          'call',
          'requests',
          'errors',
          'requests/s',
          'avg',
          'p50',
          'p95',
          'p99',
          'max',
          'server CPU us',
          'kB',
        ],
        rows.map(({ name, requests, errors, perSecond, ms, serverCpuUs, kilobytes }) => [
          name,
          figure(requests),
          figure(errors),
          figure(perSecond),
          ...[ms.avg, ms.p50, ms.p95, ms.p99, ms.max].map((value) => figure(value, 1)),
          figure(serverCpuUs),
          figure(kilobytes, 1),
        ]),
        failed,
      ),
    );
    if (machine.load > machine.cores) {
      console.log(
        `\nOthers were working here when this began (load ${machine.load} on ${machine.cores} cores): the site alone does better.`,
      );
    }
    const pass = failed.size === 0;
    console.log(pass ? '\nEvery bar is met.\n' : '\nMissed: see the red rows.\n');
    await publish('api', {
      name: 'api',
      pass,
      barP99Ms: barMs,
      concurrency: options.concurrency,
      loops: options.loops,
      short: options.short,
      rows,
      serverPeakMemoryMb: peakMemoryMb(site.server.pid),
      machine,
      stores: site.stores,
      at: new Date().toISOString(),
    });
    return pass;
  } finally {
    await site.stop();
  }
}

const interrupt = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => {
    console.error('stopping; once more ends at once');
    interrupt.abort(new Error(`Ended by ${name}.`));
  });
try {
  process.exitCode = (await main(interrupt.signal)) ? 0 : 1;
} catch (error) {
  const expected = error instanceof LauncherError || interrupt.signal.aborted;
  console.error(expected && error instanceof Error ? error.message : error);
  process.exitCode = interrupt.signal.aborted ? 130 : 1;
}
