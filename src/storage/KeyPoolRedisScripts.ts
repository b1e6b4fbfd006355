import type { Result } from "ioredis"
import type { Scripts } from "./RedisClient.ts"

/** Batch ids remembered a shard. A record is closed right after its push; only an unclosed one is pushed again. */
export const knownMax = 1_000

/** Elements in one `RPUSH` inside a script: Lua's `unpack` puts at most some 8,000 values on its stack. */
const chunk = 1_000

/** What both scripts begin with. An epoch is an integer of at most 53 bits, which is exact in Lua's doubles. */
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
 * Adds the keys in ARGV[4], ARGV[3] bytes each with zero bytes on the right, to the list KEYS[2] and the batch id ARGV[2] to
 * the list KEYS[3], unless it stands there already. Gives the keys in the list then, or -1 as \`claim\` does.
 *
 * It reads everything before it writes anything: whatever can be refused, because a name is of another type, Redis is a replica
 * or has no memory left, is refused while nothing was done.
 */
const push = `${fence}
local level = redis.call('LLEN', KEYS[2])
local known = redis.call('LPOS', KEYS[3], ARGV[2])
${remember}
if known then return level end
local width, packed = tonumber(ARGV[3]), ARGV[4]
local chunk = {}
for at = 1, #packed, width do
  local key = string.sub(packed, at, at + width - 1)
  if string.byte(key, -1) == 0 then key = string.match(key, '^%Z*') end
  chunk[#chunk + 1] = key
  if #chunk == ${chunk} or at + width > #packed then
    level = redis.call('RPUSH', KEYS[2], unpack(chunk))
    chunk = {}
  end
end
redis.call('RPUSH', KEYS[3], ARGV[2])
redis.call('LTRIM', KEYS[3], -${knownMax}, -1)
return level
`

/** The scripts of a pool shard, each atomic: all of it happens or nothing, in memory, in the log and on replicas. */
export const scripts: Scripts = {
  linkmintClaim: { lua: claim, numberOfKeys: 1 },
  linkmintPush: { lua: push, numberOfKeys: 3 }
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
  }
}
