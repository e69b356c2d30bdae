/** What happened to a family in this process, as running totals. */
export interface FamilyFigures {
  /** Answered from this process's memory, and from Redis. */
  hitMemory: number;
  hitRedis: number;
  /** Nothing was there. */
  missAbsent: number;
  /** Something was there, older than what was asked for, or a tombstone. */
  missExpired: number;
  /** Waited for somebody else's load of the same value. */
  coalesced: number;
  /** Values that Redis did not take because it has something newer. */
  refusedFills: number;
  /** Values that were not kept because they are larger than the family allows. */
  tooLarge: number;
  /** Reads and fills that Redis did not answer; the value came from the store. */
  errors: number;
  /** Bytes of JSON read from Redis and written to it. */
  bytesRead: number;
  bytesFilled: number;
}

const zero = (): FamilyFigures => ({
  hitMemory: 0,
  hitRedis: 0,
  missAbsent: 0,
  missExpired: 0,
  coalesced: 0,
  refusedFills: 0,
  tooLarge: 0,
  errors: 0,
  bytesRead: 0,
  bytesFilled: 0,
});

/** Totals by family; made as families are first used. */
export class Figures {
  readonly #families = new Map<string, FamilyFigures>();

  of(family: string): FamilyFigures {
    let figures = this.#families.get(family);
    if (!figures) {
      figures = zero();
      this.#families.set(family, figures);
    }
    return figures;
  }

  all(): ReadonlyMap<string, Readonly<FamilyFigures>> {
    return this.#families;
  }
}
