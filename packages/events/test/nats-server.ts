import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A NATS server of the test's own, which it may kill: the run's shared one serves others too. */
export class NatsServer {
  readonly port: number;
  readonly #folder: string;
  readonly #options: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(port: number, folder: string, options: readonly string[]) {
    this.port = port;
    this.#folder = folder;
    this.#options = options;
  }

  static async start(options: readonly string[] = ['-js']): Promise<NatsServer> {
    const server = new NatsServer(
      await freePort(),
      await mkdtemp(join(tmpdir(), 'sparkroom-nats-')),
      options,
    );
    await server.start();
    return server;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    this.#process = spawn(
      'nats-server',
      [...this.#options, '-sd', this.#folder, '-a', '127.0.0.1', '-p', String(this.port)],
      { stdio: 'ignore' },
    );
    await until(() => answers(this.port), 10_000, 'nats-server did not start');
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  }

  /** Copies the store of a stopped server: what had reached the disk at that moment. */
  async keepCopy(): Promise<void> {
    await cp(this.#folder, `${this.#folder}-copy`, { recursive: true });
  }

  /** Puts the copy in place of the store of a stopped server: what a crash of its operating system leaves. */
  async rollBack(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
    await cp(`${this.#folder}-copy`, this.#folder, { recursive: true });
  }

  /** As {@link rollBack}, but messages only: what consumers have acknowledged was synced to disk a moment later. */
  async rollBackMessages(stream: string): Promise<void> {
    const messages = join('jetstream', '$G', 'streams', stream, 'msgs');
    await rm(join(this.#folder, messages), { recursive: true });
    await cp(join(`${this.#folder}-copy`, messages), join(this.#folder, messages), { recursive: true });
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(`${this.#folder}-copy`, { recursive: true, force: true });
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    const done = (ok: boolean): void => {
      socket.destroy();
      resolve(ok);
    };
    socket.once('data', () => done(true));
    socket.once('error', () => done(false));
    socket.setTimeout(500, () => done(false));
  });
}

/** Waits until `condition` holds. @throws Error with `message` when it does not within `ms` */
export async function until(
  condition: () => boolean | Promise<boolean>,
  ms = 10_000,
  message = 'the condition did not come true',
): Promise<void> {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(message);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
