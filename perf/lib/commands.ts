import { setTimeout as pause } from 'node:timers/promises';
import { Caller } from './caller.ts';
import { pick, randomOf } from './random.ts';

/** A command as it was sent; its request id reaches its event. */
export interface Sent {
  requestId: string;
  /** Type of the event that it makes. */
  event: 'idea.created' | 'idea.revised' | 'idea.rated';
  /** Answered 200. Otherwise it was refused, or nobody knows. */
  acknowledged: boolean;
  /** What was answered; 0 when nothing was. */
  status: number;
  /** False where the rating may have been there already, through a command whose outcome nobody knows. */
  surelyNew: boolean;
  /** The text that came with it. */
  text: string | null;
}

interface Answer {
  /** 0: none came. */
  status: number;
  data: { id: string; version: number };
}

interface Known {
  id: string;
  /** Undefined after a command whose outcome nobody knows. */
  version: number | undefined;
}

const WRITERS = 4;
const RATERS = 3;
const ROOMS = 2;
const DEADLINE_MS = 6_000;
/** Milliseconds after which a command without an answer cannot be carried out by a thawed server any more. */
const FORGET_MS = 30_000;
const PASSWORD = 'sparkroom-demo';

/** People who write and rate ideas through two servers, and one who only looks whether somebody answers. */
export class Commands {
  /** By request id. */
  readonly sent = new Map<string, Sent>();
  readonly rooms: string[] = [];
  readonly #urls: readonly [string, string];
  readonly #random: () => number;
  readonly #run: string;
  readonly #ideas: Known[] = [];
  #author = '';
  readonly #raters: string[] = [];
  #going = true;
  #probing = true;
  #running: Promise<unknown>[] = [];
  #number = 0;
  /** Longest time that a reader who asks the other server when one does not answer waited for a page, milliseconds. */
  unavailableMs = 0;

  constructor(urls: readonly [string, string], seed: number, run: string) {
    this.#urls = urls;
    this.#random = randomOf(seed);
    this.#run = run;
  }

  get authorToken(): string {
    return this.#author;
  }

  async prepare(): Promise<void> {
    const caller = new Caller(this.#urls[0]);
    try {
      const email = (who: string): string => `${who}.${this.#run}@crash.sparkroom.example`;
      for (let i = 0; i < RATERS; i++)
        this.#raters.push((await caller.signUp(email(`rater${i}`), PASSWORD)).token);
      this.#author = caller.token = (await caller.signUp(email('author'), PASSWORD)).token;
      const client = await caller.mutate<{ id: string }>('clients.create', { name: `Crash ${this.#run}` });
      for (let room = 0; room < ROOMS; room++) {
        const { id } = await caller.mutate<{ id: string }>('workspaces.create', {
          clientId: client.id,
          name: `room ${room}`,
        });
        this.rooms.push(id);
        for (let i = 0; i < RATERS; i++)
          await caller.mutate('members.add', { workspaceId: id, email: email(`rater${i}`) });
      }
    } finally {
      caller.close();
    }
  }

  start(): void {
    this.#running = [
      ...Array.from({ length: WRITERS }, () => this.#write()),
      ...this.#raters.map((token) => this.#rate(token)),
      this.#probe(),
    ];
    for (const one of this.#running) one.catch(() => {});
  }

  /** No more commands; the last ones have been answered or given up. The reader goes on until it is answered. */
  async stop(): Promise<void> {
    this.#going = false;
    await Promise.all(this.#running.slice(0, -1));
  }

  async stopProbing(): Promise<void> {
    this.#probing = false;
    await Promise.allSettled(this.#running);
  }

  async #call(token: string, name: string, input: object, requestId?: string): Promise<Answer> {
    const url = new URL(`/trpc/${name}`, pick(this.#random, this.#urls));
    if (requestId === undefined) url.searchParams.set('input', JSON.stringify(input));
    try {
      const response = await fetch(url, {
        signal: AbortSignal.timeout(DEADLINE_MS),
        headers: { authorization: `Bearer ${token}` },
        ...(requestId === undefined
          ? {}
          : {
              method: 'POST',
              body: JSON.stringify(input),
              headers: {
                authorization: `Bearer ${token}`,
                'content-type': 'application/json',
                'x-request-id': requestId,
              },
            }),
      });
      const body = (await response.json()) as { result?: { data: Answer['data'] } };
      return { status: response.status, data: body.result?.data ?? { id: '', version: 0 } };
    } catch {
      return { status: 0, data: { id: '', version: 0 } };
    }
  }

  /** Sends a command under a request id of its own and notes what became of it. */
  async #command(
    token: string,
    name: string,
    input: object,
    note: Pick<Sent, 'event' | 'text' | 'surelyNew'>,
  ): Promise<Answer> {
    const requestId = `crash-${this.#run}-${++this.#number}`;
    const sent: Sent = { requestId, acknowledged: false, status: 0, ...note };
    this.sent.set(requestId, sent);
    const answer = await this.#call(token, name, input, requestId);
    sent.status = answer.status;
    sent.acknowledged = answer.status === 200;
    return answer;
  }

  async #write(): Promise<void> {
    const own: Known[] = [];
    while (this.#going) {
      const text = `Text ${this.#run} ${this.#number + 1} 正文`;
      const idea = own.length > 0 && this.#random() > 0.2 ? pick(this.#random, own) : undefined;
      const note = { text, surelyNew: true } as const;
      if (!idea) {
        const input = { workspaceId: pick(this.#random, this.rooms), title: text, body: { text } };
        const answer = await this.#command(this.#author, 'ideas.create', input, {
          event: 'idea.created',
          ...note,
        });
        if (answer.status === 200) {
          const known = { id: answer.data.id, version: answer.data.version };
          own.push(known);
          this.#ideas.push(known);
        }
      } else if (idea.version === undefined) {
        const { status, data } = await this.#call(this.#author, 'ideas.get', { id: idea.id });
        if (status === 200) idea.version = data.version;
      } else {
        const input = { id: idea.id, version: idea.version, title: text, body: { text } };
        const answer = await this.#command(this.#author, 'ideas.update', input, {
          event: 'idea.revised',
          ...note,
        });
        idea.version = answer.status === 200 ? answer.data.version : undefined;
      }
      await pause(20 + this.#random() * 60);
    }
  }

  async #rate(token: string): Promise<void> {
    const last = new Map<string, number>();
    /** When a rating of the idea was sent whose outcome nobody knows: it may be what is stored, or become it yet. */
    const doubts = new Map<string, number>();
    while (this.#going) {
      await pause(20 + this.#random() * 60);
      if (this.#ideas.length === 0) continue;
      const { id } = pick(this.#random, this.#ideas);
      const others = [1, 2, 3, 4, 5].filter((n) => n !== last.get(id));
      const stars = pick(this.#random, others);
      const at = performance.now();
      const doubt = doubts.get(id);
      const { status } = await this.#command(
        token,
        'ratings.set',
        { ideaId: id, stars },
        { event: 'idea.rated', text: null, surelyNew: doubt === undefined },
      );
      if (status !== 200) doubts.set(id, at);
      else {
        last.set(id, stars);
        if (doubt !== undefined && at - doubt > FORGET_MS) doubts.delete(id);
      }
    }
  }

  /** Asks the other server when one does not answer, as a balancer does. */
  async #probe(): Promise<void> {
    let waitingSince: number | undefined;
    while (this.#probing) {
      waitingSince ??= performance.now();
      let ok = false;
      for (const url of this.#urls) {
        if (ok) break;
        const input = encodeURIComponent(JSON.stringify({ workspaceId: this.rooms[0], limit: 5 }));
        ok = await fetch(new URL(`/trpc/ideas.list?input=${input}`, url), {
          signal: AbortSignal.timeout(2_000),
          headers: { authorization: `Bearer ${this.#author}` },
        }).then(
          async (response) => {
            await response.text();
            return response.ok;
          },
          () => false,
        );
      }
      this.unavailableMs = Math.max(this.unavailableMs, performance.now() - waitingSince);
      if (ok) waitingSince = undefined;
      await pause(100);
    }
  }
}
