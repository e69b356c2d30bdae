import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * Who a process is. A pid alone is not enough: it may have been given to another program since it was
 * written down. The start time makes it unique until the next boot, and the boot id beyond that.
 */
export interface ProcessIdentity {
  pid: number;
  /** Opaque: on Linux `<boot id>/<start time in clock ticks>`, elsewhere what `ps` prints. */
  start: string;
  /** The command line, arguments separated by spaces. */
  command: string;
}

/** @returns the identity of a live process, or `undefined` when there is none (or only a zombie). */
export function identifyProcess(pid: number): ProcessIdentity | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  if (process.platform !== 'linux') return identifyWithPs(pid);
  try {
    // proc(5): the program's name is in parentheses and may itself hold spaces and parentheses;
    // after it, field 3 is the state and field 22 the start time.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return { pid, start: `${bootId()}/${fields[19]}`, command };
  } catch {
    return undefined;
  }
}

function identifyWithPs(pid: number): ProcessIdentity | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'lstart=,command=', '-p', String(pid)], {
      encoding: 'utf8',
    }).trim();
    return line === '' ? undefined : { pid, start: line.slice(0, 24), command: line.slice(25) };
  } catch {
    return undefined;
  }
}

let cachedBootId: string | undefined;
function bootId(): string {
  cachedBootId ??= readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return cachedBootId;
}

/** True when the very process that was written down is still alive. */
export function isSameProcess(known: { pid: number; start: string }): boolean {
  return identifyProcess(known.pid)?.start === known.start;
}

/** Folder a process works in, if this can be seen (Linux, own processes or root). */
export function workingFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`).replace(/ \(deleted\)$/, '');
  } catch {
    return undefined;
  }
}

/**
 * Who listens on a TCP port. Reads /proc only, because a bare machine has neither `ss` nor `lsof`.
 *
 * @returns `undefined` when it cannot be seen (not Linux, or another user's process and we are not root).
 */
export function portHolder(port: number): ProcessIdentity | undefined {
  const inodes = listeningInodes(port);
  if (inodes.size === 0) return undefined;
  for (const entry of readdirSync('/proc')) {
    if (/^\d+$/.test(entry) && ownsSocket(Number(entry), inodes)) return identifyProcess(Number(entry));
  }
  return undefined;
}

/** True unless it can be seen that the port is held by another process than this one. */
export function mayHoldPort(pid: number, port: number): boolean {
  const inodes = listeningInodes(port);
  return inodes.size === 0 || ownsSocket(pid, inodes);
}

function listeningInodes(port: number): Set<string> {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const inodes = new Set<string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    let text: string;
    try {
      text = readFileSync(table, 'utf8');
    } catch {
      continue;
    }
    for (const line of text.split('\n').slice(1)) {
      const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
      // 0A is TCP_LISTEN.
      if (local?.endsWith(wanted) && state === '0A' && inode !== undefined) inodes.add(inode);
    }
  }
  return inodes;
}

function ownsSocket(pid: number, inodes: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return inodes.has(/^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? '');
      } catch {
        return false;
      }
    });
  } catch {
    return false;
  }
}

/**
 * Ends a process: SIGTERM, then SIGKILL when it has not gone after `graceMs` milliseconds.
 * Does nothing when the process is no longer the one that was written down.
 *
 * @returns whether it had to be killed.
 */
export async function endProcess(known: { pid: number; start: string }, graceMs: number): Promise<boolean> {
  for (const [signal, waitMs] of [
    ['SIGTERM', graceMs],
    ['SIGKILL', 5_000],
  ] as const) {
    if (!isSameProcess(known)) return false;
    try {
      process.kill(known.pid, signal);
    } catch {
      return false;
    }
    const deadline = Date.now() + waitMs;
    while (Date.now() < deadline && isSameProcess(known)) await new Promise((wake) => setTimeout(wake, 25));
    if (signal === 'SIGKILL') return true;
  }
  return false;
}
