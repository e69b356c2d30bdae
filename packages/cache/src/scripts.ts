/**
 * A key is one Redis hash: `v` the version of all that is in it, `b:<variant>` the values, and what happened to it
 * last: `n` counts, `t0` to `t7` are the newest eight notes, `r` counts fills that were refused. A hash without values
 * is a tombstone. Every script touches one key, so they run on Redis Cluster too.
 *
 * A value is filed under a version that was read before it or with it, so it is at least that new; a value from an old
 * snapshot carries an old version and is refused here, however late it arrives.
 */

/** Notes kept of each key. */
export const NOTES = 8;
/** Values of one key at most: pages of different lengths and orders. */
const VARIANTS = 32;

const note = (arg: number) => `
local n = redis.call('HINCRBY', KEYS[1], 'n', 1)
redis.call('HSET', KEYS[1], 't' .. (n % ${NOTES}), ARGV[${arg}])`;

const dropValues = `
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.sub(field, 1, 2) == 'b:' then redis.call('HDEL', KEYS[1], field) end
end`;

/**
 * KEYS[1]; ARGV: version, field, value, seconds to live, note. Returns 1 when stored, 0 when something newer is there,
 * 2 when the very same is.
 */
export const fillScript = `
local stored = tonumber(redis.call('HGET', KEYS[1], 'v') or '-1')
local version = tonumber(ARGV[1])
if stored > version then
  redis.call('HINCRBY', KEYS[1], 'r', 1)
  return 0
end
if stored < version then ${dropValues}
elseif redis.call('HEXISTS', KEYS[1], ARGV[2]) == 1 then return 2
elseif redis.call('HLEN', KEYS[1]) > ${VARIANTS + NOTES + 3} then return 0 end
redis.call('HSET', KEYS[1], 'v', ARGV[1], ARGV[2], ARGV[3])
${note(5)}
redis.call('EXPIRE', KEYS[1], ARGV[4])
return 1`;

/**
 * KEYS[1]; ARGV: version, seconds the tombstone lives, note. Returns 1 when something was dropped or marked, 0 when
 * what is there is at least that new.
 */
export const invalidateScript = `
local stored = tonumber(redis.call('HGET', KEYS[1], 'v') or '-1')
if stored >= tonumber(ARGV[1]) then return 0 end
${dropValues}
redis.call('HSET', KEYS[1], 'v', ARGV[1])
${note(3)}
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
