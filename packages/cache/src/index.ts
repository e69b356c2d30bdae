export { type Cache, type Cause, openCache, type Versioned, type Wanted } from './cache.ts';
export { defineFamily, type Family, families } from './families.ts';
export type { FamilyFigures } from './figures.ts';
export { createLeases, type Leases } from './leases.ts';
export type { KeyStory, Note } from './redis-tier.ts';
export { cacheSamples, type Sample } from './samples.ts';
export { type CacheSettings, readCacheSettings } from './settings.ts';
export { withoutCache } from './without.ts';
