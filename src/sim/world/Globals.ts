import nodeCrypto, { createHash } from "node:crypto"
import { syncBuiltinESMExports } from "node:module"
import type { FiberNumbers } from "./FiberNumbers.ts"
import { ms_us } from "./Time.ts"
import type { World, WorldEvent } from "./World.ts"

/** What a timer's handle is to code that never asks. */
type Callback = (...args: ReadonlyArray<unknown>) => void

/** Longer waits than this mean for ever. */
const forever_ms = 2 ** 31 - 1

/** `Date` with the clock of the process that asks. */
const virtualDate = (now_ms: () => number): DateConstructor => {
  const proxy: DateConstructor = new Proxy(Date, {
    construct: (target, args: [], newTarget) =>
      args.length === 0
        ? new target(now_ms())
        : (Reflect.construct(target, args, newTarget === proxy ? target : newTarget) as object),
    apply: (target) => new target(now_ms()).toString(),
    get: (target, property) => (property === "now" ? now_ms : (Reflect.get(target, property) as unknown))
  })
  return proxy
}

const virtualTimers = (world: World) => {
  const schedule = (run: () => void, delay_ms: number): WorldEvent => {
    const process = world.current
    const delay_us = Math.max(1, delay_ms || 0) * ms_us
    return world.after(delay_us, process, () => (process === null ? run() : process.post(run)))
  }
  const cancel = (handle: unknown) => {
    if (typeof handle === "object" && handle !== null) (handle as WorldEvent).isCancelled = true
  }
  return {
    setTimeout: (run: Callback, delay_ms: number, ...args: ReadonlyArray<unknown>) =>
      schedule(() => run(...args), delay_ms),
    setImmediate: (run: Callback, ...args: ReadonlyArray<unknown>) => schedule(() => run(...args), 0),
    setInterval: (run: Callback, period_ms: number) => {
      const handle = { isCancelled: false }
      const again = () => {
        if (handle.isCancelled) return
        run()
        schedule(again, period_ms)
      }
      // `Effect.never` keeps the program alive by an interval that never comes.
      if (period_ms < forever_ms) schedule(again, period_ms)
      return handle
    },
    queueMicrotask: (run: () => void) => {
      const process = world.current
      if (process === null) run()
      else process.post(run)
    },
    clearTimeout: cancel,
    clearInterval: cancel,
    clearImmediate: cancel
  }
}

/**
 * `Math.random` from the seed. Effect gives plain objects random hashes and remembers them for the whole program, so how many it draws depends on
 * what ran before: for it, chance is a constant.
 */
const virtualRandom = (world: World) => {
  const chance = world.chance("Math.random")
  return () => {
    const limit = Error.stackTraceLimit
    Error.stackTraceLimit = 3
    const isHash = /[\\/]Hash\.[cm]?[jt]s/.test(new Error().stack ?? "")
    Error.stackTraceLimit = limit
    return isHash ? 0.5 : chance.fraction()
  }
}

const virtualUuid = (world: World) => {
  const chance = world.chance("randomUUID")
  const hex = (digits: number) =>
    chance
      .below(16 ** digits)
      .toString(16)
      .padStart(digits, "0")
  return () => `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(8)}${hex(4)}`
}

type RandomBytes = (count: number) => Buffer

/** What secrets and ids are drawn from, which have an order among themselves. */
const virtualBytes = (world: World): RandomBytes => {
  const chance = world.chance("randomBytes")
  return (count: number) => Buffer.from(Array.from({ length: count }, () => chance.below(256)))
}

/** Where random bytes come from while a world runs; undefined before the first one. */
let randomBytes: RandomBytes | undefined

/**
 * Has all modules take random bytes from elsewhere, until the function that it gives is called. Modules are told once for the whole program: Node
 * goes through all that it brings for that.
 */
const overlayBytes = (bytes: RandomBytes) => {
  if (randomBytes === undefined) {
    randomBytes = nodeCrypto.randomBytes
    // All arguments: outside of worlds, some callers are called back.
    Object.assign(nodeCrypto, { randomBytes: (...args: Parameters<RandomBytes>) => randomBytes!(...args) })
    syncBuiltinESMExports()
  }
  const before = randomBytes
  randomBytes = bytes
  return () => {
    randomBytes = before
  }
}

/** WebCrypto's digests come from another thread: here at once, as a task of the process, without a promise. */
const virtualDigest = (world: World) => (algorithm: string | { readonly name: string }, data: Uint8Array) => {
  const name = (typeof algorithm === "string" ? algorithm : algorithm.name).toLowerCase().replace("-", "")
  const digest = new Uint8Array(createHash(name).update(data).digest()).buffer
  const process = world.current
  return {
    // eslint-disable-next-line unicorn/no-thenable -- what is awaited must be one
    then: (resolve: (digest: ArrayBufferLike) => void) =>
      process === null ? resolve(digest) : process.post(() => resolve(digest))
  }
}

/**
 * Puts time, timers and chance that libraries reach for by themselves under the world, until the function that it gives is called.
 * Effect's services cover the rest.
 */
export const virtualise = (world: World, fibers: FiberNumbers): (() => void) => {
  const now_ms = () => world.current?.wallClock_ms() ?? world.now_ms
  const virtual: Record<string, unknown> = { Date: virtualDate(now_ms), ...virtualTimers(world) }
  const target = globalThis as unknown as Record<string, unknown>
  const saved = Object.fromEntries(Object.keys(virtual).map((name) => [name, target[name]]))
  const { random } = Math
  const { stackTraceLimit } = Error
  // Nobody reads the stacks of simulated failures, and they cost a great part of the time.
  Error.stackTraceLimit = 0
  Object.assign(target, virtual)
  Math.random = virtualRandom(world)
  const overlay = (object: object, name: string, value: unknown) => {
    Object.defineProperty(object, name, { value, configurable: true, writable: true })
    return () => Reflect.deleteProperty(object, name)
  }
  const uncover = [
    overlay(performance, "now", () => world.now_us / ms_us),
    overlay(crypto, "randomUUID", virtualUuid(world)),
    overlay(crypto.subtle, "digest", virtualDigest(world)),
    overlayBytes(virtualBytes(world))
  ]
  const leave = fibers.enter()
  return () => {
    leave()
    uncover.forEach((restore) => restore())
    Math.random = random
    Error.stackTraceLimit = stackTraceLimit
    Object.assign(target, saved)
  }
}
