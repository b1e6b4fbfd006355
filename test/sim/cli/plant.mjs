// A fault to be found: a Redis that comes back with the keys that it handed out last. For `node --import`, beside the built simulation.

const { VirtualRedis } = await import(
  new URL("../../../dist/src/sim/stores/VirtualRedis.js", import.meta.url).href
)
const { pop, restart } = VirtualRedis.prototype
const last = new WeakMap()

VirtualRedis.prototype.pop = function (by, wanted) {
  const keys = pop.call(this, by, wanted)
  if (keys.length > 0) last.set(this, keys)
  return keys
}

VirtualRedis.prototype.restart = function (down_us) {
  restart.call(this, down_us)
  this.keys.unshift(...(last.get(this) ?? []))
}
