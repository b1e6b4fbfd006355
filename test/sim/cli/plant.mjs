// A fault to be found: a Redis that comes back with the keys that it handed out last. For `node --import`, beside the built simulation.

const built = (path) => import(new URL(`../../../dist/src/sim/redis/${path}`, import.meta.url).href)
const { VirtualRedis } = await built("VirtualRedis.js")
const { RedisData } = await built("RedisData.js")
const { restart, run } = VirtualRedis.prototype
const { run: runData } = RedisData.prototype
/** The server that runs a command, and how each puts back what it handed out last. */
let redis
const last = new WeakMap()

VirtualRedis.prototype.run = function (by, commands) {
  redis = this
  return run.call(this, by, commands)
}

RedisData.prototype.run = function (command, args) {
  const reply = runData.call(this, command, args)
  if (command === "lpop" && reply !== null)
    last.set(redis, () => runData.call(this, "LPUSH", [args[0], ...reply.toReversed()]))
  return reply
}

VirtualRedis.prototype.restart = function (down_us) {
  restart.call(this, down_us)
  last.get(this)?.()
}
