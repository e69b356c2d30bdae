export { type Cache, type Entry, type Key, openCache } from './cache.ts';
export { type CacheSettings, readCacheSettings } from './settings.ts';
