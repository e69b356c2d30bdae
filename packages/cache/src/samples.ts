import type { Cache } from './cache.ts';
import type { FamilyFigures } from './figures.ts';

/** One figure in the shape that a Prometheus client wants. */
export interface Sample {
  name: string;
  help: string;
  labels: readonly string[];
  values: Array<{ labels: Record<string, string>; value: number }>;
}

const ofFamilies: Array<[name: string, help: string, label: string, Array<[string, keyof FamilyFigures]>]> = [
  [
    'hits_total',
    'Values answered from a tier',
    'tier',
    [
      ['memory', 'hitMemory'],
      ['redis', 'hitRedis'],
    ],
  ],
  [
    'misses_total',
    'Values that were not in Redis: never there or gone (absent), older than what was wanted (expired)',
    'reason',
    [
      ['absent', 'missAbsent'],
      ['expired', 'missExpired'],
    ],
  ],
  [
    'bytes_total',
    'JSON read from and filled into Redis',
    'direction',
    [
      ['read', 'bytesRead'],
      ['filled', 'bytesFilled'],
    ],
  ],
  ['coalesced_total', 'Reads that waited for the load of another', '', [['', 'coalesced']]],
  ['refused_fills_total', 'Fills that came after something newer', '', [['', 'refusedFills']]],
  ['too_large_total', 'Values larger than their family allows', '', [['', 'tooLarge']]],
  ['errors_total', 'Values that Redis was not or could not be asked for', '', [['', 'errors']]],
];

/** All figures of a cache now, named `sparkroom_cache_*`. */
export function cacheSamples(cache: Pick<Cache, 'figures' | 'leases'>): Sample[] {
  const { families, memoryBytes, memoryEntries } = cache.figures();
  const samples = ofFamilies.map(
    ([name, help, label, columns]): Sample => ({
      name: `sparkroom_cache_${name}`,
      help,
      labels: label ? ['family', label] : ['family'],
      values: [...families].flatMap(([family, figures]) =>
        columns.map(([value, key]) => ({
          labels: label ? { family, [label]: value } : { family },
          value: figures[key],
        })),
      ),
    }),
  );
  const single = (name: string, help: string, value: number) =>
    samples.push({ name: `sparkroom_cache_${name}`, help, labels: [], values: [{ labels: {}, value }] });
  const leases = cache.leases.figures();
  single('memory_bytes', 'Bytes of values in the memory of this process', memoryBytes);
  single('memory_entries', 'Values in the memory of this process', memoryEntries);
  single('leases', 'Versions this process believes without asking the store', leases.held);
  single('lease_reads_total', 'Answers given on the ground of a lease', leases.served);
  single(
    'stale_served_total',
    'Leases that were used after the commit of the change that ended them',
    leases.servedStale,
  );
  single('feed_fresh', '1 while the feed that ends leases is not late', leases.fresh ? 1 : 0);
  return samples;
}
