import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { styleText } from 'node:util';

/**
 * A table for the terminal: the first column to the left, the others to the right.
 * @param marked rows to show in red, by number
 */
export function table(
  head: readonly string[],
  rows: ReadonlyArray<readonly string[]>,
  marked: ReadonlySet<number> = new Set(),
): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => (row[i] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ');
  return [
    styleText('dim', line(head)),
    ...rows.map((row, i) => (marked.has(i) ? styleText('red', line(row)) : line(row))),
  ].join('\n');
}

/** `12,345.6` */
export const figure = (value: number, digits = 0): string =>
  Number.isFinite(value)
    ? value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
    : '-';

/**
 * Writes `perf/results/<name>.json` (whole or not at all) and prints the line that other programs read: `RESULT` and
 * the same object.
 */
export async function publish(name: string, result: object): Promise<void> {
  const folder = join(import.meta.dirname, '..', 'results');
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${name}.json`);
  await writeFile(`${file}.tmp`, `${JSON.stringify(result, null, 2)}\n`);
  await rename(`${file}.tmp`, file);
  console.log(`RESULT ${JSON.stringify(result)}`);
}
