import type { Result } from "ioredis"
import type { PoolKind } from "./KeyPool.ts"
import type { Scripts } from "../redis/RedisClient.ts"

/**
 * Ids of batches, and as many of returns, remembered a shard. A record is closed right after its push, or with the next claim: only one that is not closed is pushed
 * again, and none that the pool has taken is left open for later. A return is repeated for some seconds at most.
 */
export const knownMax = 1_000

/** Elements that one command inside a script adds: Lua's `unpack` puts at most some 8,000 values on its stack. */
const chunk = 1_000

/** The commands of each kind of pool. `all` reads its keys in a script. */
const commands: Record<PoolKind, Record<"length" | "append" | "prepend" | "all", string>> = {
  list: { length: "'LLEN'", append: "'RPUSH'", prepend: "'LPUSH'", all: "'LRANGE', name, 0, -1" },
  set: { length: "'SCARD'", append: "'SADD'", prepend: "'SADD'", all: "'SMEMBERS', name" }
}

/**
 * The beginning of scripts with an epoch: they give the newest epoch, negative, where theirs compares to it in this way. It is an integer of at most 53
 * bits, which is exact in Lua's doubles.
 */
const fence = (refused: "<" | "<=") => `
local newest = tonumber(redis.call('GET', KEYS[1]) or '0')
local epoch = tonumber(ARGV[1])
if epoch ${refused} newest then return -newest end
`

const remember = `
if epoch > newest then redis.call('SET', KEYS[1], ARGV[1]) end
`

/**
 * Stores the epoch ARGV[1] at KEYS[1] and gives 0, or the one that is stored there, negative, unless ARGV[1] is greater. Keys of a pool of the other kind, at KEYS[3], move to KEYS[2]: the
 * setting was changed.
 */
const claim = (kind: PoolKind) => `${fence("<=")}
local name = KEYS[3]
local others = redis.call(${commands[kind === "list" ? "set" : "list"].all})
${remember}
for first = 1, #others, ${chunk} do
  redis.call(${commands[kind].append}, KEYS[2], unpack(others, first, math.min(first + ${chunk - 1}, #others)))
end
if #others > 0 then redis.call('DEL', KEYS[3]) end
return 0
`

/**
 * \`put\` adds keys that are packed, \`width\` bytes each with zero bytes on the right, to a pool: those that begin at the bytes
 * \`first\` to \`last\`, one after the other. There is one at least. Gives how many keys the pool has then.
 */
const put = (kind: PoolKind) => `
local function put(command, pool, packed, width, first, last)
  local chunk = {}
  for at = first, last, first < last and width or -width do
    local key = string.sub(packed, at, at + width - 1)
    if string.byte(key, -1) == 0 then key = string.match(key, '^%Z*') end
    chunk[#chunk + 1] = key
    if #chunk == ${chunk} or at == last then
      redis.call(command, pool, unpack(chunk))
      chunk = {}
    end
  end
  return redis.call(${commands[kind].length}, pool)
end
`

/** Adds an id to those that are known, and drops the oldest ones beyond `knownMax`. */
const know = (list: string, id: string) => `
redis.call('RPUSH', ${list}, ${id})
redis.call('LTRIM', ${list}, -${knownMax}, -1)
`

/**
 * Adds the keys in ARGV[4], ARGV[3] bytes each with zero bytes on the right, to the pool KEYS[2] and the batch id ARGV[2] to
 * the list KEYS[3], unless it is there already. Gives the keys in the pool then, or a greater epoch that is stored at KEYS[1], negative.
 *
 * It reads everything before it writes anything: whatever can be refused, because a name is of another type, Redis is a replica
 * or has no memory left, is refused while nothing was done.
 */
const push = (kind: PoolKind) => `${fence("<")}${put(kind)}
local level = redis.call(${commands[kind].length}, KEYS[2])
local known = redis.call('LPOS', KEYS[3], ARGV[2])
${remember}
if known then return level end
local width, packed = tonumber(ARGV[3]), ARGV[4]
if #packed > 0 then level = put(${commands[kind].append}, KEYS[2], packed, width, 1, #packed - width + 1) end
${know("KEYS[3]", "ARGV[2]")}
return level
`

/**
 * Adds the keys in ARGV[3], ARGV[2] bytes each with zero bytes on the right, to the pool KEYS[1], of a list before all others, and the id ARGV[1] to the list
 * KEYS[2], unless it is there already. There is one key at least. Gives the keys in the pool then. It reads before it writes, as \`push\` does.
 */
const giveBack = (kind: PoolKind) => `${put(kind)}
local level = redis.call(${commands[kind].length}, KEYS[1])
if redis.call('LPOS', KEYS[2], ARGV[1]) then return level end
local width, packed = tonumber(ARGV[2]), ARGV[3]
level = put(${commands[kind].prepend}, KEYS[1], packed, width, #packed - width + 1, 1)
${know("KEYS[2]", "ARGV[1]")}
return level
`

/** The scripts of a pool shard, each atomic: all of it happens or nothing, in memory, in the log and on replicas. */
export const scripts = (kind: PoolKind): Scripts => ({
  linkmintClaim: { lua: claim(kind), numberOfKeys: 3 },
  linkmintPush: { lua: push(kind), numberOfKeys: 3 },
  linkmintGiveBack: { lua: giveBack(kind), numberOfKeys: 2 }
})

declare module "ioredis" {
  interface RedisCommander<Context> {
    linkmintClaim(
      epochName: string,
      keysName: string,
      otherName: string,
      epoch: number
    ): Result<number, Context>
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
