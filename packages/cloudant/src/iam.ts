import type { Dispatcher } from 'undici';
import { request } from 'undici';

const defaultUrl = 'https://iam.cloud.ibm.com/identity/token';

/** Tokens are renewed when this share of their life is over, so that a slow exchange does not make callers wait. */
const renewAfter = 0.7;

/**
 * Exchanges an IBM IAM API key for bearer tokens
 * (https://cloud.ibm.com/docs/account?topic=account-iamtoken_from_apikey). One exchange runs at a time however many
 * ask; a failed one is tried again by the next call, so a bad minute never locks us out.
 */
export class IamTokens {
  readonly #key: string;
  readonly #url: string;
  readonly #dispatcher: Dispatcher;
  readonly #timeoutMs: number;
  #token: { value: string; renewAt: number; expiresAt: number } | undefined;
  #exchange: Promise<string> | undefined;

  constructor(options: { key: string; url?: string; dispatcher: Dispatcher; timeoutMs: number }) {
    this.#key = options.key;
    this.#url = options.url ?? defaultUrl;
    this.#dispatcher = options.dispatcher;
    this.#timeoutMs = options.timeoutMs;
  }

  /** A token that is still good. @throws Error when there is none and none can be had. */
  async get(): Promise<string> {
    const now = performance.now();
    const token = this.#token;
    if (token && now < token.renewAt) return token.value;
    this.#exchange ??= this.#renew().finally(() => {
      this.#exchange = undefined;
    });
    if (token && now < token.expiresAt) {
      // Still good: renew beside the call, and let a failure be found by a later one.
      this.#exchange.catch(() => {});
      return token.value;
    }
    return this.#exchange;
  }

  /** Forgets a token that the server has refused. */
  forget(value: string): void {
    if (this.#token?.value === value) this.#token = undefined;
  }

  async #renew(): Promise<string> {
    const response = await request(this.#url, {
      method: 'POST',
      dispatcher: this.#dispatcher,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
      body: new URLSearchParams({
        grant_type: 'urn:ibm:params:oauth:grant-type:apikey',
        apikey: this.#key,
      }).toString(),
      signal: AbortSignal.timeout(this.#timeoutMs),
    });
    const text = await response.body.text();
    if (response.statusCode !== 200) {
      throw new Error(`IAM answered ${response.statusCode} when a Cloudant token was asked for`);
    }
    const answer = JSON.parse(text) as { access_token?: unknown; expires_in?: unknown };
    if (typeof answer.access_token !== 'string' || typeof answer.expires_in !== 'number') {
      throw new Error('IAM answered without a token');
    }
    const now = performance.now();
    const life = answer.expires_in * 1000;
    this.#token = { value: answer.access_token, renewAt: now + life * renewAfter, expiresAt: now + life };
    return answer.access_token;
  }
}
