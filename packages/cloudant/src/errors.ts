/** What a response said besides its body. */
export interface ResponseFacts {
  statusCode: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>;
}

/**
 * The server understood and refused: 400, 401, 403, 404, 409, 412, 413, or a 500 that retrying did not cure.
 * `error` and `reason` are CouchDB's own words.
 */
export class CloudantError extends Error {
  override readonly name = 'CloudantError';
  readonly statusCode: number;
  readonly error: string;
  readonly reason: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(facts: ResponseFacts, error: string, reason: string) {
    super(`Cloudant answered ${facts.statusCode} ${error}: ${reason}`);
    this.statusCode = facts.statusCode;
    this.headers = facts.headers;
    this.error = error;
    this.reason = reason;
  }
}

/** A successful answer whose JSON is empty or cut off. nano would have passed it on as an empty string. */
export class CloudantBodyError extends Error {
  override readonly name = 'CloudantBodyError';
  readonly statusCode: number;

  constructor(facts: ResponseFacts) {
    super(`Cloudant answered ${facts.statusCode} with JSON that is empty or cut off`);
    this.statusCode = facts.statusCode;
  }
}
