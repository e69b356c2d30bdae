/** How to reach a Cloudant or CouchDB and how to treat it. */
export interface CloudantSettings {
  /** `http(s)://user:password@host:port`, or without credentials when an IAM key is given. May end in a path. */
  url: string;
  /** IBM IAM API key; exchanged for bearer tokens. */
  iamKey?: string;
  /** Where IAM keys are exchanged; only tests need another. */
  iamUrl?: string;
  /** What every database's name begins with. */
  prefix: string;
  /** Requests in flight at once, 32 when left out. See the README for the arithmetic. */
  sockets?: number;
  /** Milliseconds one call may take with its waiting and its retries, 5000 when left out. */
  deadlineMs?: number;
}

// https://docs.couchdb.org/en/stable/api/database/common.html#put--db
const databaseName = /^[a-z][a-z0-9_$()+-]*$/;

/**
 * Reads SPARKROOM_CLOUDANT_URL, SPARKROOM_CLOUDANT_IAM_KEY and SPARKROOM_CLOUDANT_PREFIX (`sparkroom`).
 * @throws Error that names the variable and says what it should be; it never repeats the value, which may be secret.
 */
export function readCloudantSettings(env: Readonly<Record<string, string | undefined>>): CloudantSettings {
  const url = env.SPARKROOM_CLOUDANT_URL;
  if (!url) {
    throw new Error('SPARKROOM_CLOUDANT_URL is not set. Set it to http(s)://user:password@host:port.');
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw new Error('SPARKROOM_CLOUDANT_URL is not a URL. Set it to http(s)://user:password@host:port.');
  }
  const prefix = env.SPARKROOM_CLOUDANT_PREFIX || 'sparkroom';
  if (!databaseName.test(prefix)) {
    throw new Error(
      'SPARKROOM_CLOUDANT_PREFIX must begin with a small letter and go on with a-z, 0-9, _, $, (, ), + or -.',
    );
  }
  const iamKey = env.SPARKROOM_CLOUDANT_IAM_KEY;
  return { url, prefix, ...(iamKey ? { iamKey } : {}) };
}
