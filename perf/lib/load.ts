import { Pool } from 'undici';
import { Samples, type TimeFigures } from './samples.ts';

export interface LoadRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

export interface LoadResult {
  requests: number;
  /** Answers that were not 200, whose body says `error`, or that did not come. */
  errors: number;
  /** The first few different ones. */
  errorSamples: string[];
  seconds: number;
  perSecond: number;
  /** From the sending of a request to the last byte of its answer. */
  ms: TimeFigures;
  bytes: number;
}

/**
 * As many virtual users as there are lists, all starting at once, each working through its list one request after the
 * other over a connection that is kept alive: "160 concurrent x 10 loops" is 160 lists of 10 requests (JMeter's thread
 * group without a ramp). A closed model: slow answers slow the users down, as they do people.
 */
export async function runLoad(
  origin: string,
  users: ReadonlyArray<readonly LoadRequest[]>,
): Promise<LoadResult> {
  const pool = new Pool(origin, {
    connections: users.length,
    pipelining: 1,
    headersTimeout: 60_000,
    bodyTimeout: 60_000,
  });
  const samples = new Samples();
  const problems = new Map<string, number>();
  let bytes = 0;

  async function one(request: LoadRequest): Promise<void> {
    const started = performance.now();
    let problem: string | undefined;
    try {
      const { statusCode, body } = await pool.request({
        method: request.method,
        path: request.path,
        headers: request.headers,
        body: request.body ?? null,
      });
      const text = await body.text();
      bytes += text.length;
      if (statusCode !== 200 || text.startsWith('{"error"')) problem = `${statusCode} ${text.slice(0, 200)}`;
    } catch (error) {
      problem = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    }
    samples.add(performance.now() - started);
    if (problem !== undefined) problems.set(problem, (problems.get(problem) ?? 0) + 1);
  }

  const started = performance.now();
  await Promise.all(
    users.map(async (requests) => {
      for (const request of requests) await one(request);
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  await pool.close();
  const ms = samples.figures();
  return {
    requests: ms.count,
    errors: [...problems.values()].reduce((a, b) => a + b, 0),
    errorSamples: [...problems.keys()].slice(0, 3),
    seconds: Math.round(seconds * 1000) / 1000,
    perSecond: Math.round((ms.count / seconds) * 10) / 10,
    ms,
    bytes,
  };
}
