/**
 * `npm run test:crash [-- --runs N --seed S --short]`: people write and rate through real processes that are killed and
 * frozen at random, and so are the stores; then everything that was acknowledged is looked for in every store.
 */
import { randomInt } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { LauncherError, type StoreName, storeNames } from '@sparkroom/local';
import { atEnd } from './lib/at-end.ts';
import { Commands } from './lib/commands.ts';
import { type FaultSite, type MemberName, memberNames, startFaultSite } from './lib/fault-site.ts';
import { machineFacts } from './lib/machine.ts';
import { pick, randomOf } from './lib/random.ts';
import { figure, publish, table } from './lib/report.ts';
import { Judge, type Verdict } from './lib/verdict.ts';

/** Seconds a reader may be without an answer: a store's longest absence, its start, and the reader's own deadlines. */
const BAR_UNAVAILABLE_S = 15;
/** Milliseconds for everything to arrive after the last command. */
const SETTLE_MS = 90_000;

function readArguments() {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string' },
      seed: { type: 'string' },
      short: { type: 'boolean', default: false },
    },
  });
  const whole = (name: string, text: string, most: number): number => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < 1 || value > most)
      throw new LauncherError('bad-setting', `--${name} takes a whole number from 1 to ${most}.`);
    return value;
  };
  return {
    runs: whole('runs', values.runs ?? (values.short ? '1' : '3'), 10_000),
    seed: whole('seed', values.seed ?? String(randomInt(1, 2 ** 31)), 2 ** 32 - 1),
    short: values.short,
    seconds: values.short ? 20 : 30,
  };
}

type Victim = MemberName | StoreName;
const victims: readonly Victim[] = [...memberNames, ...storeNames];
const isStore = (victim: Victim): victim is StoreName => (storeNames as readonly string[]).includes(victim);

interface Blow {
  victim: Victim;
  how: 'kill' | 'freeze';
}

async function strike({ stack, members }: FaultSite, { victim, how }: Blow): Promise<void> {
  if (isStore(victim)) await stack.kill(victim, how === 'kill' ? 'SIGKILL' : 'SIGSTOP');
  else if (how === 'kill') await members[victim].kill();
  else members[victim].freeze();
}

async function heal({ stack, members }: FaultSite, { victim, how }: Blow): Promise<void> {
  if (isStore(victim)) await (how === 'kill' ? stack.restart(victim) : stack.kill(victim, 'SIGCONT'));
  else if (how === 'kill') await members[victim].start();
  else members[victim].thaw();
}

/** Kills and freezes, one or two at a time, until the time is over; everything is up again then. */
async function torment(
  site: FaultSite,
  random: () => number,
  seconds: number,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<number> {
  const end = performance.now() + seconds * 1_000;
  let count = 0;
  await pause(1_000, undefined, { signal });
  while (performance.now() < end) {
    const first = pick(random, victims);
    const chosen = random() < 0.3 ? [first, pick(random, victims)] : [first];
    const blows = [...new Set(chosen)].map(
      (victim): Blow => ({ victim, how: random() < 0.6 ? 'kill' : 'freeze' }),
    );
    const awayMs = 200 + random() * 4_800;
    const calmMs = 300 + random() * 2_500;
    say(`${blows.map(({ how, victim }) => `${how} ${victim}`).join(' and ')} for ${Math.round(awayMs)} ms`);
    await Promise.all(blows.map((blow) => strike(site, blow)));
    count += blows.length;
    try {
      await pause(awayMs, undefined, { signal });
    } finally {
      // A program is ready only when it has its stores.
      for (const stores of [true, false])
        await Promise.all(
          blows.filter(({ victim }) => isStore(victim) === stores).map((blow) => heal(site, blow)),
        );
    }
    await pause(calmMs, undefined, { signal });
  }
  return count;
}

interface Run extends Verdict {
  seed: number;
  blows: number;
  unavailableSeconds: number;
  pass: boolean;
}

async function run(
  site: FaultSite,
  judge: Judge,
  seed: number,
  seconds: number,
  signal: AbortSignal,
): Promise<Run> {
  const began = performance.now();
  const log: string[] = [];
  const say = (line: string): void =>
    void log.push(`${((performance.now() - began) / 1000).toFixed(3)} s ${line}`);
  const commands = new Commands(site.urls, seed, `${seed}-${Date.now().toString(36)}`);
  await commands.prepare();
  await judge.begin();
  commands.start();
  let blows = 0;
  try {
    blows = await torment(site, randomOf(seed), seconds, say, signal);
  } finally {
    await commands.stop();
    await commands.stopProbing();
  }
  say('quiet');
  const verdict = await judge.judge(commands, SETTLE_MS);
  const unavailableSeconds = Math.round(commands.unavailableMs / 100) / 10;
  const { lost, doubled, reordered, drift } = verdict;
  const pass = lost + doubled + reordered + drift === 0 && unavailableSeconds <= BAR_UNAVAILABLE_S;
  verdict.trace.unshift(...log);
  if (!pass) {
    const file = join(site.dir, `trace-${seed}.json`);
    await mkdir(site.dir, { recursive: true });
    await writeFile(file, JSON.stringify({ ...verdict, sent: [...commands.sent.values()] }, null, 1));
    console.log(`  seed ${seed}:\n    ${verdict.trace.join('\n    ')}\n  every command is in ${file}`);
  }
  return { seed, blows, unavailableSeconds, pass, ...verdict };
}

async function main(signal: AbortSignal): Promise<boolean> {
  const { runs, seed, short, seconds } = readArguments();
  const machine = machineFacts();
  console.log(`  seed ${seed}; bringing up two servers, two workers and the stores`);
  const site = await startFaultSite('crash', signal);
  atEnd(() => site.stop());
  const judge = await Judge.open(site.env, site.urls);
  const results: Run[] = [];
  try {
    for (let i = 0; i < runs; i++) {
      signal.throwIfAborted();
      const one = await run(site, judge, (seed + i) % 2 ** 32, seconds, signal);
      results.push(one);
      console.log(
        `  run ${i + 1} of ${runs}, seed ${one.seed}: ${one.blows} blows, ${figure(one.acknowledged)} of ${figure(one.commands)} acknowledged, ${one.pass ? 'all there' : 'NOT as it must be'}`,
      );
    }
  } finally {
    await judge.close();
    await site.stop();
  }
  const sum = (of: (one: Run) => number): number => results.reduce((total, one) => total + of(one), 0);
  const total = {
    lost: sum((one) => one.lost),
    doubled: sum((one) => one.doubled),
    reordered: sum((one) => one.reordered),
    drift: sum((one) => one.drift),
    unavailable_max_s: Math.max(...results.map((one) => one.unavailableSeconds)),
  };
  const pass = results.every((one) => one.pass);
  console.log(
    `\n${table(
      ['seed', 'blows', 'commands', 'acknowledged', 'events', 'settled s', 'unavailable s'],
      results.map((one) => [
        String(one.seed),
        ...[one.blows, one.commands, one.acknowledged, one.events].map((n) => figure(n)),
        ...[one.settledSeconds, one.unavailableSeconds].map((n) => figure(n, 1)),
      ]),
      new Set(results.flatMap((one, i) => (one.pass ? [] : [i]))),
    )}\n`,
  );
  console.log(
    Object.entries(total)
      .map(([name, value]) => `${name} ${value}`)
      .join(' '),
  );
  if (!pass)
    console.log(`Again: npm run test:crash -- --runs ${runs} --seed ${seed}${short ? ' --short' : ''}`);
  await publish('crash', {
    name: 'crash',
    pass,
    ...total,
    bars: { unavailable_max_s: BAR_UNAVAILABLE_S },
    seed,
    // The schedule of a run that passed says nothing.
    runs: results.map((one) => (one.pass ? { ...one, trace: [] } : one)),
    short,
    machine,
    at: new Date().toISOString(),
  });
  return pass;
}

const interrupt = new AbortController();
atEnd(() => interrupt.abort(new Error('Interrupted.')));
try {
  process.exitCode = (await main(interrupt.signal)) ? 0 : 1;
} catch (error) {
  console.error(error instanceof LauncherError ? error.message : error);
  process.exitCode = 1;
}
