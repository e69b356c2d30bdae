import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const folder = join(root, '.sparkroom', `event-mistakes-${process.pid}`);
const text = readFileSync(join(import.meta.dirname, 'event-mistakes.md'), 'utf8');

const block = (from: string, kind: string): string => {
  const code = new RegExp(`\`\`\`ts ${kind}\\n([\\s\\S]*?)\n\`\`\``).exec(from)?.[1];
  if (code === undefined) throw new Error(`no "${kind}" under ${from.split('\n')[0]}`);
  return code;
};

const preamble = block(text, 'preamble');
const mistakes = text
  .split(/^## /m)
  .slice(1)
  .map((part, number) => ({
    name: part.split('\n')[0] ?? '',
    file: `mistake-${number}`,
    right: block(part, 'right'),
    wrong: block(part, 'wrong'),
  }));

/** What tsc said, by file name without its ending. */
let complaints: Map<string | undefined, string[]>;

beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  for (const { file, right, wrong } of mistakes) {
    writeFileSync(join(folder, `${file}-right.ts`), `${preamble}\n${right}\n`);
    writeFileSync(join(folder, `${file}-wrong.ts`), `${preamble}\n${wrong}\n`);
  }
  // Where every package can be found: @sparkroom/* are links in the root's node_modules.
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../tsconfig.base.json', include: ['*.ts'] }),
  );
  const said = await new Promise<string>((resolve) => {
    const args = [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder, '--pretty', 'false'];
    execFile(process.execPath, args, { cwd: folder, maxBuffer: 10_000_000 }, (_, stdout, stderr) => {
      resolve(stdout + stderr);
    });
  });
  complaints = Map.groupBy(
    said.split('\n').filter((line) => /error TS\d+/.test(line)),
    (line) => /^(mistake-\d+-(?:right|wrong))\.ts\(/.exec(line)?.[1],
  );
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('there are at least twenty', () => {
  expect(mistakes.length).toBeGreaterThanOrEqual(20);
});

test('nothing but the mistakes is wrong', () => {
  const elsewhere = [...complaints].filter(([file]) => !file?.endsWith('-wrong')).flatMap(([, said]) => said);
  expect(elsewhere).toEqual([]);
});

test.each(mistakes)('$name', ({ file }) => {
  const said = complaints.get(`${file}-wrong`) ?? [];
  expect(said.length, 'it compiles').toBeGreaterThan(0);
  // At the mistake, not in what stands before it.
  for (const line of said)
    expect(Number(/\((\d+),/.exec(line)?.[1])).toBeGreaterThan(preamble.split('\n').length);
});
