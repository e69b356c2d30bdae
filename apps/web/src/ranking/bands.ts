export interface Band<T> {
  band: number;
  ideas: T[];
}

/** Neighbours of one band together, in the order given. */
export function bands<T extends { band: number }>(ideas: readonly T[]): Array<Band<T>> {
  const result: Array<Band<T>> = [];
  for (const idea of ideas) {
    const last = result.at(-1);
    if (last?.band === idea.band) last.ideas.push(idea);
    else result.push({ band: idea.band, ideas: [idea] });
  }
  return result;
}
