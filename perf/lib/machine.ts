import { readFileSync } from 'node:fs';
import { arch, cpus, loadavg, release, totalmem, type } from 'node:os';

/** What a figure has to be read with. No names of hosts or people. */
export interface MachineFacts {
  cores: number;
  cpu: string;
  memoryGb: number;
  system: string;
  node: string;
  /** Processes that wanted to run in the last minute: others' work shows here when taken before a measurement. */
  load: number;
}

export const machineFacts = (): MachineFacts => ({
  cores: cpus().length,
  cpu: cpus()[0]?.model.trim() ?? 'unknown',
  memoryGb: Math.round(totalmem() / 2 ** 30),
  system: `${type()} ${release()} ${arch()}`,
  node: process.version,
  load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
});

/**
 * Processor time of a process so far, its threads included, in microseconds; NaN where there is no /proc.
 * Fields 14 and 15 of proc(5) `stat`, in ticks of 10 ms.
 */
export function cpuMicroseconds(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * 10_000;
  } catch {
    return Number.NaN;
  }
}

/** Greatest memory a process has had, in MB; NaN where there is no /proc. */
export function peakMemoryMb(pid: number): number {
  try {
    const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return Math.round(Number(line?.[1]) / 1024);
  } catch {
    return Number.NaN;
  }
}
