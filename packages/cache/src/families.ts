/** A kind of cached value. `T` is what its values are; values are shared between requests and must not be changed. */
export interface Family<T = unknown> {
  readonly name: string;
  /** Where the version comes from that a value is filed under; for people. */
  readonly version: string;
  /** Seconds a value lives at most, in every tier. */
  readonly ttlSeconds: number;
  /** Larger values (bytes of JSON) are not kept. */
  readonly maxBytes: number;
  /** Whether processes keep values in their memory, and whether Redis does: what is cheap to load is not worth a trip. */
  readonly memory: boolean;
  readonly redis: boolean;
  /**
   * Kept from its first load on (default), or from the second of this process: where most are read once, filling costs
   * more than it saves.
   */
  readonly keptFrom?: 'first' | 'second';
  /** Never there; ties a family to the type of its values. */
  readonly value?: T;
}

const registry = new Map<string, Family>();

/**
 * Declares a family once, as a constant.
 * @throws Error when the name is taken or is not lower case with dashes
 */
export function defineFamily<T>(definition: Omit<Family<T>, 'value'>): Family<T> {
  if (!/^[a-z][a-z-]*$/.test(definition.name)) throw new Error(`${definition.name} is no name for a family`);
  if (registry.has(definition.name)) throw new Error(`The family ${definition.name} is defined twice`);
  const family: Family<T> = Object.freeze({ ...definition });
  registry.set(family.name, family);
  return family;
}

/** Every family this program has defined, by name. */
export const families = (): ReadonlyMap<string, Family> => registry;
