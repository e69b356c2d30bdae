import { createServer } from 'node:net';
import { portHolder } from './process-identity.ts';
import { LauncherError } from './trouble.ts';

/** @returns whether nothing listens on this port of 127.0.0.1 (or of all addresses). */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(false) : reject(error),
    );
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** @returns the first free port from `port` upwards. */
export async function nextFreePort(port: number): Promise<number> {
  for (let candidate = port; candidate < Math.min(port + 500, 65_536); candidate++) {
    if (await isPortFree(candidate)) return candidate;
  }
  throw new LauncherError('port-in-use', `No free port between ${port} and ${port + 500} on 127.0.0.1.`);
}

/** The message for a port that somebody else holds. */
export function portInUse(what: string, port: number, variable: string): LauncherError {
  const holder = portHolder(port);
  const by = holder ? `pid ${holder.pid} (${holder.command.slice(0, 120)})` : 'another program';
  return new LauncherError(
    'port-in-use',
    `${what} needs port ${port}, but ${by} already listens there.\n` +
      `Stop that program, or choose another port: ${variable}=${port + 1} npm start`,
  );
}

/**
 * Reads a port from an environment variable.
 *
 * @throws LauncherError `bad-setting` when the variable holds anything but a port number.
 */
export function portFrom(env: NodeJS.ProcessEnv, variable: string, fallback: number): number {
  const text = env[variable];
  if (text === undefined || text === '') return fallback;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) {
    throw new LauncherError(
      'bad-setting',
      `${variable} must be a port number from 1 to 65535, but is "${text}".`,
    );
  }
  return port;
}
