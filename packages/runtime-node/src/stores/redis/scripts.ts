import { createHash } from "node:crypto";

/** A script, and the digest by which Redis knows it after its first run. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

const script = (text: string): Script => ({ text, sha: createHash("sha1").update(text).digest("hex") });

/** The keys of a thread, in the order in which each script receives them. */
export const threadKeys: readonly string[] = [
  "lease",
  "entries",
  "thread",
  "snapshot",
  "chunks",
  "letters",
  "unanswered",
  "answers",
  "parts",
];

// Redis runs each script atomically. The time is the caller's if one is given, else the server's. Lua formats numbers
// with 14 digits by default, hence `exact`.
const time = `
  local function now(given)
    if given ~= '' then return tonumber(given) end
    local time = redis.call('TIME')
    return time[1] * 1000 + time[2] / 1000
  end
`;

const common = `
  ${time}
  local ${threadKeys.join(", ")} = unpack(KEYS)
  local function holds(token, given)
    local kept = redis.call('HMGET', lease, 'token', 'until')
    return kept[1] == token and kept[2] and tonumber(kept[2]) > now(given)
  end
  local function exact(number) return string.format('%.17g', number) end
`;

/** Makes a script on the keys of a thread. The comments below name the arguments of each, then its result. */
const onThread = (text: string): Script => script(common + text);

/** The result of a script that needs the lease if the caller does not hold it. */
export const lost = -2;

/**
 * owner, ttl, now → token, end of the lease, token of the lease before or '', or nil. Tokens are microseconds, so that
 * they keep growing even if Redis loses its data in a crash.
 */
export const acquire: Script = onThread(`
  local kept = redis.call('HMGET', lease, 'owner', 'token', 'until')
  local time = now(ARGV[3])
  if kept[3] and kept[1] ~= ARGV[1] and tonumber(kept[3]) > time then return false end
  local clock = redis.call('TIME')
  local token = math.max(clock[1] * 1000000 + clock[2], (tonumber(kept[2]) or 0) + 1)
  token = string.format('%.0f', token)
  local ends = exact(time + tonumber(ARGV[2]))
  redis.call('HSET', lease, 'owner', ARGV[1], 'token', token, 'until', ends)
  return { token, ends, kept[2] or '' }
`);

/** token, ttl, now → end of the lease if it is earlier than before, else '', or nil if it is lost */
export const renew: Script = onThread(`
  local kept = redis.call('HMGET', lease, 'token', 'until')
  if kept[1] ~= ARGV[1] or not kept[2] then return false end
  local ends = exact(now(ARGV[3]) + tonumber(ARGV[2]))
  redis.call('HSET', lease, 'until', ends)
  return tonumber(ends) < (tonumber(kept[2]) or 0) and ends or ''
`);

/** token → 1 or 0. A thread with entries keeps the token of its newest lease. */
export const release: Script = onThread(`
  if redis.call('HGET', lease, 'token') ~= ARGV[1] then return 0 end
  if redis.call('EXISTS', entries) == 1 then
    redis.call('HDEL', lease, 'owner', 'until')
  else
    redis.call('DEL', lease)
  end
  return 1
`);

/**
 * token, now, expected seq, place in the listing, creation time, time of the newest entry, metadata or '', seq of the
 * entry that has it, bodies → newest seq before the append, or lost
 */
export const append: Script = onThread(`
  if not holds(ARGV[1], ARGV[2]) then return ${lost} end
  local newest = redis.call('LLEN', entries) - 1
  if newest ~= tonumber(ARGV[3]) or #ARGV == 8 then return newest end
  if newest == -1 then
    redis.call('HSET', thread, 'place', ARGV[4], 'createdAt', ARGV[5], 'metadata', '{}', 'told', ARGV[8])
  end
  if ARGV[7] ~= '' then redis.call('HSET', thread, 'metadata', ARGV[7], 'told', ARGV[8]) end
  redis.call('HSET', thread, 'updatedAt', ARGV[6])
  for index = 9, #ARGV do redis.call('RPUSH', entries, ARGV[index]) end
  return newest
`);

/** first seq → bodies */
export const read: Script = onThread(`return redis.call('LRANGE', entries, ARGV[1], -1)`);

/** token, now, then for each entry: seq, body, metadata or '' → a missing seq, -1 for none, or lost */
export const rewrite: Script = onThread(`
  if not holds(ARGV[1], ARGV[2]) then return ${lost} end
  local count = redis.call('LLEN', entries)
  for index = 3, #ARGV, 3 do
    if tonumber(ARGV[index]) >= count then return tonumber(ARGV[index]) end
  end
  for index = 3, #ARGV, 3 do
    redis.call('LSET', entries, ARGV[index], ARGV[index + 1])
    if ARGV[index + 2] ~= '' and redis.call('HGET', thread, 'told') == ARGV[index] then
      redis.call('HSET', thread, 'metadata', ARGV[index + 2])
    end
  end
  redis.call('UNLINK', snapshot, chunks, parts)
  return -1
`);

/** token, now, seq, head, number of chunks, ids and texts of the chunks, ids of dropped chunks → 1, or lost */
export const saveSnapshot: Script = onThread(`
  if not holds(ARGV[1], ARGV[2]) then return ${lost} end
  local dropped = 6 + 2 * ARGV[5]
  for index = 6, dropped - 1, 2 do redis.call('HSET', chunks, ARGV[index], ARGV[index + 1]) end
  redis.call('HSET', snapshot, 'seq', ARGV[3], 'head', ARGV[4])
  for index = dropped, #ARGV do redis.call('HDEL', chunks, ARGV[index]) end
  return 1
`);

/** → head or nil */
export const readSnapshot: Script = onThread(`
  return redis.call('HGET', snapshot, 'head')
`);

/** id → id and text of a chunk, if it exists */
export const readChunk: Script = onThread(`
  local text = redis.call('HGET', chunks, ARGV[1])
  return text and { ARGV[1], text } or {}
`);

/** known ids → ids and texts of all other chunks */
export const readChunks: Script = onThread(`
  local known = {}
  for _, id in ipairs(ARGV) do known[id] = true end
  local found = {}
  for _, id in ipairs(redis.call('HKEYS', chunks)) do
    if not known[id] then
      found[#found + 1] = id
      found[#found + 1] = redis.call('HGET', chunks, id)
    end
  end
  return found
`);

/** id, inbox item → 1 if the item is unanswered, else 0 */
export const post: Script = onThread(`
  if redis.call('HEXISTS', answers, ARGV[1]) == 1 then return 0 end
  if redis.call('HEXISTS', letters, ARGV[1]) == 1 then return 1 end
  redis.call('HSET', letters, ARGV[1], ARGV[2])
  redis.call('RPUSH', unanswered, ARGV[1])
  return 1
`);

/** → ids and inbox items, oldest first */
export const readLetters: Script = onThread(`
  local found = {}
  for _, id in ipairs(redis.call('LRANGE', unanswered, 0, -1)) do
    local letter = redis.call('HGET', letters, id)
    if letter then found[#found + 1] = { id, letter } end
  end
  return found
`);

/** token, now, then for each: id, answer → 1, or lost */
export const answer: Script = onThread(`
  if not holds(ARGV[1], ARGV[2]) then return ${lost} end
  for index = 3, #ARGV, 2 do
    if redis.call('HDEL', letters, ARGV[index]) == 1 then
      redis.call('LREM', unanswered, 1, ARGV[index])
      redis.call('HSET', answers, ARGV[index], ARGV[index + 1])
    end
  end
  return 1
`);

/** id → answer or nil */
export const readAnswer: Script = onThread(`return redis.call('HGET', answers, ARGV[1])`);

/** id → 1 if the item was unanswered, else 0 */
export const discard: Script = onThread(`
  local was = redis.call('HDEL', letters, ARGV[1])
  redis.call('HDEL', answers, ARGV[1])
  redis.call('LREM', unanswered, 1, ARGV[1])
  return was
`);

/**
 * token, now, number, turn, body, the caller's time, expiry by it → 1, or lost. Deletes up to 100 expired items; the
 * whole stream expires with its newest item, by Redis' own clock.
 */
export const addParts: Script = onThread(`
  if not holds(ARGV[1], ARGV[2]) then return ${lost} end
  redis.call('XADD', parts, ARGV[1] .. '-' .. ARGV[3], 'turn', ARGV[4], 'until', ARGV[7], 'body', ARGV[5])
  for _, item in ipairs(redis.call('XRANGE', parts, '-', '+', 'COUNT', 100)) do
    if tonumber(item[2][4]) > tonumber(ARGV[6]) then break end
    redis.call('XDEL', parts, item[1])
  end
  redis.call('PEXPIRE', parts, string.format('%.0f', math.max(ARGV[7] - ARGV[6], 1)))
  return 1
`);

/** from, the caller's time, turn or '' → id, turn and body of each, in order */
export const readParts: Script = onThread(`
  local found = {}
  for _, item in ipairs(redis.call('XRANGE', parts, ARGV[1], '+')) do
    local fields = item[2]
    if tonumber(fields[4]) > tonumber(ARGV[2]) and (ARGV[3] == '' or fields[2] == ARGV[3]) then
      found[#found + 1] = { item[1], fields[2], fields[6] }
    end
  end
  return found
`);

/**
 * token or '', now → whether entries existed, or lost; place in the listing or ''; token of the lease or ''; ids of the
 * unanswered inbox items
 */
export const drop: Script = onThread(`
  if ARGV[1] ~= '' and not holds(ARGV[1], ARGV[2]) then return { ${lost}, '', '', {} } end
  local was = redis.call('EXISTS', entries)
  local place = redis.call('HGET', thread, 'place')
  local token = redis.call('HGET', lease, 'token')
  local ids = redis.call('HKEYS', letters)
  redis.call('UNLINK', unpack(KEYS))
  return { was, place or '', token or '', ids }
`);

/** token, now → nil if no lease is there or it was given back, '' if it ran out, else its end */
export const leaseLeft: Script = onThread(`
  local ends = redis.call('HGET', lease, 'until')
  if not ends then return false end
  return (tonumber(ends) or 0) > now(ARGV[2]) and ends or ''
`);

/** id → '' if the inbox item is unanswered, else nil */
export const letterLeft: Script = onThread(`return redis.call('HEXISTS', letters, ARGV[1]) == 1 and ''`);

/** → place, creation time, time of the newest entry, metadata, newest seq, token of the lease */
export const describe: Script = onThread(`
  local told = redis.call('HMGET', thread, 'place', 'createdAt', 'updatedAt', 'metadata')
  return {
    told[1], told[2], told[3], told[4], redis.call('LLEN', entries) - 1, redis.call('HGET', lease, 'token')
  }
`);

// The listing and the marks have their own keys, which may be on another server of a cluster than a thread's keys, so no
// script can reach both. All scores of the listing are equal, so that Redis sorts it by bytes.

/** score, member, the member that it replaces or none */
export const enlist: Script = script(`
  if ARGV[3] then redis.call('ZREM', KEYS[1], ARGV[3]) end
  return redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])
`);

// Lua can't unpack thousands of arguments.
export const strike: Script = script(`
  for _, member in ipairs(ARGV) do redis.call('ZREM', KEYS[1], member) end
`);

/** cursor, now → next cursor, then members with a score of now or less, and their scores */
export const due: Script = script(`
  ${time}
  local time = now(ARGV[2])
  local cursor, scanned = unpack(redis.call('ZSCAN', KEYS[1], ARGV[1], 'COUNT', 500))
  local found = { cursor }
  for index = 1, #scanned, 2 do
    if tonumber(scanned[index + 1]) <= time then
      found[#found + 1] = scanned[index]
      found[#found + 1] = scanned[index + 1]
    end
  end
  return found
`);

/** for each: member, its present score, its new score. A member whose score has changed keeps it. */
export const postpone: Script = script(`
  for index = 1, #ARGV, 3 do
    local score = redis.call('ZSCORE', KEYS[1], ARGV[index])
    if score and tonumber(score) == tonumber(ARGV[index + 1]) then
      redis.call('ZADD', KEYS[1], ARGV[index + 2], ARGV[index])
    end
  end
`);

/** from, to, limit → places, forwards */
export const forwards: Script = script(`
  return redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2], 'BYLEX', 'LIMIT', 0, ARGV[3])
`);

/** from, to, limit → places, backwards */
export const backwards: Script = script(`
  return redis.call('ZRANGE', KEYS[1], ARGV[1], ARGV[2], 'BYLEX', 'REV', 'LIMIT', 0, ARGV[3])
`);

/** the caller's format → the stored format, which is the caller's if none was stored */
export const formatOf: Script = script(`
  redis.call('SET', KEYS[1], ARGV[1], 'NX')
  return redis.call('GET', KEYS[1])
`);
