import { Samples, type TimeFigures } from './samples.ts';

/** What a version belongs to: an idea in lists, a workspace's name in a list, the count of its ideas in a list. */
export type Kind = 'ideas' | 'workspaces' | 'counts';
const kinds: readonly Kind[] = ['ideas', 'workspaces', 'counts'];

interface Write {
  version: number;
  /** When its acknowledgement arrived. */
  at: number;
  /** Longest time after which a read began that still did not show it. */
  lateMs: number;
}

/** What was acknowledged when a read began: every version below is stale. */
export interface Expected {
  at: number;
  versions: Map<string, number>;
}

export interface PhaseFigures {
  /** Versions read. */
  reads: number;
  stale: number;
  /** Age of the stale ones: from the acknowledgement of the first change they lack to the begin of the read. */
  staleMs: TimeFigures;
  /** For each write: from its acknowledgement to the begin of the last read that did not show it; 0 when all did. */
  coherentMs: TimeFigures;
  byKind: Record<Kind, { reads: number; stale: number; coherentMs: TimeFigures }>;
}

/**
 * Judges reads by acknowledged writes, on one clock: a read is stale if it shows a version older than one whose
 * acknowledgement had arrived before the read was sent.
 */
export class Observer {
  /** Writes by kind and key, rising versions. */
  readonly #writes = new Map<string, Write[]>();
  #phase = this.#newPhase();
  /** Stale reads ever. */
  stale = 0;

  #newPhase() {
    return {
      began: performance.now(),
      staleMs: new Samples(),
      byKind: Object.fromEntries(kinds.map((kind) => [kind, { reads: 0, stale: 0 }])) as Record<
        Kind,
        { reads: number; stale: number }
      >,
    };
  }

  /** `version` is committed, and it was known at `at`. One that is known already, or older, is not news. */
  acknowledged(kind: Kind, key: number, version: number, at: number): void {
    const name = `${kind} ${key}`;
    const writes = this.#writes.get(name) ?? [];
    this.#writes.set(name, writes);
    if ((writes.at(-1)?.version ?? -1) < version) writes.push({ version, at, lateMs: 0 });
  }

  /** To be called right before a read is sent. */
  expect(ofKinds: readonly Kind[]): Expected {
    const versions = new Map<string, number>();
    for (const [name, writes] of this.#writes)
      if (ofKinds.some((kind) => name.startsWith(`${kind} `)))
        versions.set(name, writes.at(-1)?.version ?? -1);
    return { at: performance.now(), versions };
  }

  /** What the read showed of one key. */
  seen(expected: Expected, kind: Kind, key: number, _server: number, version: number): void {
    const name = `${kind} ${key}`;
    const count = this.#phase.byKind[kind];
    count.reads++;
    const wanted = expected.versions.get(name) ?? -1;
    if (version >= wanted) return;
    count.stale++;
    this.stale++;
    const writes = this.#writes.get(name) ?? [];
    let oldest = expected.at;
    for (let i = writes.length - 1; i >= 0; i--) {
      const write = writes[i] as Write;
      if (write.version <= version) break;
      if (write.version > wanted) continue;
      write.lateMs = Math.max(write.lateMs, expected.at - write.at);
      oldest = write.at;
    }
    this.#phase.staleMs.add(expected.at - oldest);
  }

  begin(): void {
    this.#phase = this.#newPhase();
  }

  end(): PhaseFigures {
    const { began, staleMs, byKind } = this.#phase;
    const all = new Samples();
    const lateBy = (kind: Kind): TimeFigures => {
      const samples = new Samples();
      for (const [name, writes] of this.#writes)
        if (name.startsWith(`${kind} `))
          for (const write of writes)
            if (write.at >= began) {
              samples.add(write.lateMs);
              all.add(write.lateMs);
            }
      return samples.figures();
    };
    const withTimes = Object.fromEntries(
      kinds.map((kind) => [kind, { ...byKind[kind], coherentMs: lateBy(kind) }]),
    ) as PhaseFigures['byKind'];
    return {
      reads: kinds.reduce((sum, kind) => sum + byKind[kind].reads, 0),
      stale: kinds.reduce((sum, kind) => sum + byKind[kind].stale, 0),
      staleMs: staleMs.figures(),
      coherentMs: all.figures(),
      byKind: withTimes,
    };
  }
}
