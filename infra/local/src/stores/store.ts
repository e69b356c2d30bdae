import type { Socket } from 'node:net';
import { connect } from 'node:net';

/** The four servers of the stack. */
export type StoreName = 'mysql' | 'cloudant' | 'redis' | 'nats';

export const storeNames: readonly StoreName[] = ['mysql', 'cloudant', 'redis', 'nats'];

/** What a store needs to know to start: where it may write, and on which port it listens. */
export interface StoreSite {
  /** The store's own data folder (made by `prepare`). */
  data: string;
  port: number;
  /** Password of the user `sparkroom`. */
  password: string;
  /** False in tests: a killed process still loses nothing, a power cut may. */
  durable: boolean;
}

/** A command line. */
export interface Command {
  file: string;
  args: string[];
  /** Added to our own environment; undefined takes a variable out of it. */
  env?: Record<string, string | undefined>;
}

/** How one kind of server is prepared, started, asked whether it is ready, and addressed. */
export interface Store {
  name: StoreName;
  /** With the version, as shown to people: `MariaDB 10.11.19`. */
  label: string;
  /** Makes the data folder on first use. Must leave nothing half-made behind its final name. */
  prepare(site: StoreSite, log: (line: string) => void): Promise<void>;
  command(site: StoreSite): Command;
  isReady(site: StoreSite): Promise<boolean>;
  url(site: StoreSite): string;
  /** Milliseconds a clean stop may take before it is cut short. */
  stopMs: number;
}

/**
 * Opens a connection to 127.0.0.1, optionally says something, and tests the first bytes that come back.
 *
 * @returns false on a refused connection, a wrong answer or no answer within a second.
 */
export function answers(port: number, say: string, isRight: (data: Buffer) => boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const socket: Socket = connect({ port, host: '127.0.0.1' });
    const finish = (right: boolean): void => {
      socket.destroy();
      resolve(right);
    };
    socket.setTimeout(1_000, () => finish(false));
    socket.once('error', () => finish(false));
    socket.once('connect', () => say !== '' && socket.write(say));
    socket.once('data', (data) => finish(isRight(data)));
    socket.once('close', () => finish(false));
  });
}

/** @returns whether `GET <url>` answers 200 within three seconds; the site's own `/readyz` takes up to two. */
export async function answersHttp(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(3_000) });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}
