/**
 * An entry is one Redis hash `{v, body}`; a tombstone is `{v}` alone. Both scripts touch one key, so they run on
 * Redis Cluster too. `v` is the version of the row, read in the same query as the value: a value from an old
 * snapshot carries an old version and is refused here, however late it arrives.
 */

/** KEYS[1]; ARGV: version, body, seconds to live. Returns 1 when stored, 0 when something as new or newer is there. */
export const fillScript = `
local stored = tonumber(redis.call('HGET', KEYS[1], 'v') or '-1')
local version = tonumber(ARGV[1])
if stored > version then return 0 end
if stored == version and redis.call('HEXISTS', KEYS[1], 'body') == 1 then return 0 end
redis.call('HSET', KEYS[1], 'v', ARGV[1], 'body', ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1`;

/**
 * KEYS[1]; ARGV: version, seconds the tombstone lives. Returns 1 when something was dropped or marked, 0 when what
 * is there is at least that new.
 */
export const invalidateScript = `
local stored = tonumber(redis.call('HGET', KEYS[1], 'v') or '-1')
if stored >= tonumber(ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], 'v', ARGV[1])
redis.call('HDEL', KEYS[1], 'body')
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1`;

/** KEYS[1]; ARGV: window in milliseconds. Counts a use; returns the count and the milliseconds left of the window. */
export const consumeScript = `
local count = redis.call('INCR', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  left = tonumber(ARGV[1])
end
return {count, left}`;
