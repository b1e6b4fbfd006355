import type { Result } from "ioredis"
import type { Scripts } from "./RedisClient.ts"

/**
 * Ids of batches, and as many of returns, remembered a shard. A record is closed right after its push; only an unclosed one is pushed again. A
 * return is repeated for some seconds at most.
 */
export const knownMax = 1_000

/** Elements in one `RPUSH` or `LPUSH` inside a script: Lua's `unpack` puts at most some 8,000 values on its stack. */
const chunk = 1_000

/** What scripts with an epoch begin with. It is an integer of at most 53 bits, which is exact in Lua's doubles. */
const fence = `
local newest = tonumber(redis.call('GET', KEYS[1]) or '0')
local epoch = tonumber(ARGV[1])
if epoch < newest then return -1 end
`

const remember = `
if epoch > newest then redis.call('SET', KEYS[1], ARGV[1]) end
`

/** Stores the epoch ARGV[1] at KEYS[1] and gives 0, or -1 where a greater one stands there. */
const claim = `${fence}${remember}return 0`

/**
 * \`put\` pushes keys that are packed, \`width\` bytes each with zero bytes on the right, onto an end of a list: those that begin at the bytes
 * \`first\` to \`last\`, one after the other. There is one at least. Gives the length of the list then.
 */
const put = `
local function put(command, list, packed, width, first, last)
  local chunk, level = {}, 0
  for at = first, last, first < last and width or -width do
    local key = string.sub(packed, at, at + width - 1)
    if string.byte(key, -1) == 0 then key = string.match(key, '^%Z*') end
    chunk[#chunk + 1] = key
    if #chunk == ${chunk} or at == last then
      level = redis.call(command, list, unpack(chunk))
      chunk = {}
    end
  end
  return level
end
`

/** Adds an id to those that are known, and drops the oldest where there are too many. */
const know = (list: string, id: string) => `
redis.call('RPUSH', ${list}, ${id})
redis.call('LTRIM', ${list}, -${knownMax}, -1)
`

/**
 * Adds the keys in ARGV[4], ARGV[3] bytes each with zero bytes on the right, to the list KEYS[2] and the batch id ARGV[2] to
 * the list KEYS[3], unless it stands there already. Gives the keys in the list then, or -1 as \`claim\` does.
 *
 * It reads everything before it writes anything: whatever can be refused, because a name is of another type, Redis is a replica
 * or has no memory left, is refused while nothing was done.
 */
const push = `${fence}${put}
local level = redis.call('LLEN', KEYS[2])
local known = redis.call('LPOS', KEYS[3], ARGV[2])
${remember}
if known then return level end
local width, packed = tonumber(ARGV[3]), ARGV[4]
if #packed > 0 then level = put('RPUSH', KEYS[2], packed, width, 1, #packed - width + 1) end
${know("KEYS[3]", "ARGV[2]")}
return level
`

/**
 * Adds the keys in ARGV[3], ARGV[2] bytes each with zero bytes on the right, before those in the list KEYS[1] and the id ARGV[1] to the list
 * KEYS[2], unless it stands there already. There is one key at least. Gives the keys in the list then. It reads before it writes, as \`push\` does.
 */
const giveBack = `${put}
local level = redis.call('LLEN', KEYS[1])
if redis.call('LPOS', KEYS[2], ARGV[1]) then return level end
local width, packed = tonumber(ARGV[2]), ARGV[3]
level = put('LPUSH', KEYS[1], packed, width, #packed - width + 1, 1)
${know("KEYS[2]", "ARGV[1]")}
return level
`

/** The scripts of a pool shard, each atomic: all of it happens or nothing, in memory, in the log and on replicas. */
export const scripts: Scripts = {
  linkmintClaim: { lua: claim, numberOfKeys: 1 },
  linkmintPush: { lua: push, numberOfKeys: 3 },
  linkmintGiveBack: { lua: giveBack, numberOfKeys: 2 }
}

declare module "ioredis" {
  interface RedisCommander<Context> {
    linkmintClaim(epochName: string, epoch: number): Result<number, Context>
    linkmintPush(
      epochName: string,
      keysName: string,
      batchesName: string,
      epoch: number,
      batch: string,
      width: number,
      packed: Buffer
    ): Result<number, Context>
    linkmintGiveBack(
      keysName: string,
      returnsName: string,
      id: number,
      width: number,
      packed: Buffer
    ): Result<number, Context>
  }
}
