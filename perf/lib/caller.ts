import { Agent, request } from 'node:http';

/** Milliseconds for one answer. */
const DEADLINE_MS = 10_000;

/** Calls the public procedures of one server over kept-alive connections. */
export class Caller {
  readonly url: string;
  readonly #url: URL;
  readonly #agent = new Agent({ keepAlive: true });
  token = '';

  constructor(url: string) {
    this.url = url;
    this.#url = new URL(url);
  }

  /** @throws Error with the status when the answer is not 200 */
  async query<T>(name: string, input: object): Promise<T> {
    return await this.#call<T>('GET', `/trpc/${name}?input=${encodeURIComponent(JSON.stringify(input))}`);
  }

  /** @throws Error with the status when the answer is not 200 */
  async mutate<T>(name: string, input: object): Promise<T> {
    return await this.#call<T>('POST', `/trpc/${name}`, JSON.stringify(input));
  }

  /** A new account. */
  async signUp(email: string, password: string): Promise<{ token: string; userId: string }> {
    const answer = await fetch(new URL('/api/auth/sign-up/email', this.#url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: this.#url.origin },
      body: JSON.stringify({ email, password, name: 'Perf' }),
    });
    const token = answer.headers.get('set-auth-token');
    const body = (await answer.json()) as { user?: { id: string } };
    if (!answer.ok || !token || !body.user) throw new Error(`Signing up failed: ${answer.status}`);
    return { token, userId: body.user.id };
  }

  #call<T>(method: string, path: string, body?: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const call = request(
        new URL(path, this.#url),
        {
          method,
          agent: this.#agent,
          signal: AbortSignal.timeout(DEADLINE_MS),
          headers: {
            authorization: `Bearer ${this.token}`,
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString();
            if (response.statusCode !== 200)
              return reject(new Error(`${path}: ${response.statusCode} ${text.slice(0, 200)}`));
            resolve((JSON.parse(text) as { result: { data: T } }).result.data);
          });
        },
      );
      call.on('error', reject);
      call.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
