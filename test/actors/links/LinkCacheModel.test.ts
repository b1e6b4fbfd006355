import { Exit, FastCheck as fc, Fiber } from "effect"
import { describe, expect, it } from "vitest"
import { LinkCacheWorld, versionOf } from "./LinkCacheWorld.ts"

const keys = ["a", "b"]
const key = fc.constantFrom("a", "a", "a", "b")

/** Where the cache stands. */
interface Place {
  readonly name: string
  /** Whether links are changed by others too, who announce it. */
  readonly others: boolean
  /** Whether the news of that can be lost. */
  readonly loses: boolean
  /** What it reads. Nothing is written through a cache that reads another one. */
  readonly behind: "store" | "cache"
}

const places: ReadonlyArray<Place> = [
  { name: "in front of its only writer", others: false, loses: false, behind: "store" },
  { name: "which hears of other writers", others: true, loses: false, behind: "store" },
  { name: "which can lose the news of other writers", others: true, loses: true, behind: "store" },
  { name: "in front of another cache", others: true, loses: true, behind: "cache" }
]

const ofType = <T extends string>(...types: ReadonlyArray<T>) => ({ type: fc.constantFrom(...types) })

/** What can happen next. Numbers choose among what is under way, counted round. */
const happenings = ({ behind, loses, others }: Place) =>
  fc.oneof(
    { weight: 40, arbitrary: fc.record({ ...ofType("get"), key }) },
    { weight: behind === "store" ? 20 : 0, arbitrary: fc.record({ ...ofType("write"), key }) },
    { weight: 80, arbitrary: fc.record({ ...ofType("look", "answer", "apply", "end"), which: fc.nat(20) }) },
    {
      weight: 20,
      arbitrary: fc.record({
        ...ofType("fail the read", "fail the write", "interrupt the get", "interrupt the write"),
        which: fc.nat(20)
      })
    },
    { weight: 10, arbitrary: fc.record({ ...ofType("pass time"), ms: fc.constantFrom(1, 400, 999, 2_000) }) },
    {
      weight: others ? 20 : 0,
      arbitrary: fc.record({ ...ofType("change elsewhere", "hear the news"), key })
    },
    { weight: loses ? 20 : 0, arbitrary: fc.record(ofType("lose the news", "find the news again")) }
  )
type Happening = ReturnType<typeof happenings> extends fc.Arbitrary<infer A> ? A : never

/** After each happening some fibers take some steps, or all go on until they wait. */
const scripts = (place: Place) =>
  fc.array(
    fc.record({
      happening: happenings(place),
      steps: fc.oneof(fc.constant(null), fc.array(fc.nat(10), { maxLength: 8 }))
    }),
    { maxLength: 60, size: "max" }
  )

const pick = <A>(all: ReadonlyArray<A>, which: number): A | undefined => all[which % Math.max(1, all.length)]

const readsUnderWay = (world: LinkCacheWorld) => world.reads.filter((read) => !world.done.reads.has(read))
const writesUnderWay = (world: LinkCacheWorld) =>
  world.writes.filter((write) => write.isSent && !world.done.writes.has(write))

/**
 * Lets something happen. A change elsewhere counts from when the news of it comes; the create of a key counts at once.
 */
const happen = (world: LinkCacheWorld, it: Happening): void => {
  const read = "which" in it ? pick(readsUnderWay(world), it.which) : undefined
  const write = "which" in it ? pick(writesUnderWay(world), it.which) : undefined
  switch (it.type) {
    case "get":
      return void world.get(it.key)
    case "write":
      return void world.write(it.key)
    case "look":
      return read && world.look(read)
    case "answer":
      return read && world.answer(read)
    case "apply":
      return write && world.apply(write)
    case "end":
      return write && world.end(write)
    case "fail the read":
      return read && world.failRead(read)
    case "fail the write":
      return write && world.fail(write)
    case "interrupt the get": {
      const get = pick(world.gets, it.which)
      if (get !== undefined) world.scheduler.fork(Fiber.interrupt(get.fiber))
      return
    }
    case "interrupt the write": {
      const some = pick(world.writes, it.which)
      if (some !== undefined) world.scheduler.fork(Fiber.interrupt(some.fiber))
      return
    }
    case "pass time":
      // Both caches hear of a change before it is too old for fresh news.
      if (world.behind === "cache") keys.forEach((key) => happen(world, { type: "hear the news", key }))
      world.now_ms += it.ms
      return
    case "change elsewhere": {
      const isCreate = world.row(it.key) === null
      world.change(it.key)
      if (isCreate) world.acknowledge(it.key)
      return
    }
    case "hear the news":
      if (!world.isFresh) return
      world.news?.forget(it.key)
      return world.acknowledge(it.key)
    case "lose the news":
      world.isFresh = false
      return
    case "find the news again":
      world.news?.forgetAll()
      keys.forEach((key) => world.acknowledge(key))
      world.isFresh = true
  }
}

/**
 * Every question that was answered got what was acknowledged when it was asked, or something newer that was really there. Without
 * `expect`, which would take most of the time.
 */
const check = (world: LinkCacheWorld): void => {
  const between = (what: string, version: number, oldest: number, newest: number) => {
    if (version < oldest || version > newest) {
      throw new Error(`${what} is version ${version}, which is not from ${oldest} to ${newest}`)
    }
  }
  for (const get of world.gets) {
    const result = world.result(get)
    if (result === undefined || Exit.isFailure(result)) continue
    between(`an answer for ${get.key}`, versionOf(result.value), get.atLeast, versionOf(world.row(get.key)))
  }
  for (const key of keys) {
    const shown = world.peek(key)
    if (shown === undefined) continue
    between(`what is shown of ${key}`, versionOf(shown), world.acknowledged(key), versionOf(world.row(key)))
  }
}

/** Everything under way ends well; then all questions are answered, and the cache and the store agree. */
const comeToRest = (world: LinkCacheWorld): void => {
  world.settle()
  for (let turn = 0; turn < 5; turn++) {
    writesUnderWay(world).forEach((write) => world.end(write))
    world.settle()
    readsUnderWay(world).forEach((read) => world.answer(read))
    world.settle()
  }
  for (const { fiber } of world.gets) expect(fiber.unsafePoll()).not.toBeNull()
  for (const { fiber } of world.writes) expect(fiber.unsafePoll()).not.toBeNull()
}

const holds = (place: Place) =>
  fc.property(scripts(place), (script) => {
    const world = new LinkCacheWorld({ max: 10, behind: place.behind })
    for (const { happening, steps } of script) {
      happen(world, happening)
      if (steps === null) world.settle()
      else for (const choice of steps) world.scheduler.step(choice)
      check(world)
    }
    comeToRest(world)
    check(world)
    if (!world.isFresh) happen(world, { type: "find the news again" })
    for (const key of keys) {
      if (place.others) happen(world, { type: "hear the news", key })
      if (place.behind === "cache") happen(world, { type: "pass time", ms: 2_000 })
      const last = world.get(key)
      comeToRest(world)
      expect(world.version(last)).toBe(versionOf(world.row(key)))
    }
  })

describe("a link cache, whatever happens in whatever order", () => {
  it.each(places)(
    "answers nothing older than what was acknowledged before the question: one $name",
    (place) => {
      fc.assert(holds(place), { numRuns: 300 })
    }
  )
})
