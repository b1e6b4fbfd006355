import { FileSystem } from "@effect/platform"
import { type PlatformError, SystemError } from "@effect/platform/Error"
import { NodeContext } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import { Effect, Exit, FastCheck as fc, Layer, Scope } from "effect"
import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe } from "vitest"
import { count, fromStrings, toStrings } from "../../../src/keys/PackedKeys.ts"
import * as KeyFileDisk from "../../../src/storage/keys/KeyFileDisk.ts"
import * as KeyFileMemory from "../../../src/sim/stores/KeyFileMemory.ts"
import { keys, numbered } from "../../support/samples/SomeKeys.ts"
import { atOnce, forAll } from "../../support/Property.ts"
import { temporaryFolder } from "../../support/Stores.ts"

const width = 7

const open = (path: string, keyWidth = width) =>
  Effect.provide(KeyFileDisk.make(path, keyWidth), NodeContext.layer)

const newPath = Effect.map(temporaryFolder, (folder) => join(folder, "stock.keys"))

describe.each([
  ["in memory", Effect.sync(() => KeyFileMemory.makeOver([], width))],
  ["on disk", Effect.flatMap(newPath, open)]
] as const)("a key file %s", (_, file) => {
  it.scopedLive("gives keys in their order, each once, as many as there are", () =>
    Effect.gen(function* () {
      const { append, size, take } = yield* file
      expect(count(yield* take(5))).toBe(0)
      yield* append(keys("a", 3))
      yield* append(fromStrings(["longer7", "b"]))
      expect(yield* size).toBe(5)
      expect(toStrings(yield* take(2))).toEqual(["a0", "a1"])
      expect(count(yield* take(0))).toBe(0)
      expect(toStrings(yield* take(10))).toEqual(["a2", "longer7", "b"])
      expect(yield* size).toBe(0)
      yield* append(keys("c", 1))
      expect(toStrings(yield* take(10))).toEqual(["c0"])
    })
  )

  it.scopedLive("serves many at once", () =>
    Effect.gen(function* () {
      const { append, take } = yield* file
      const taken = yield* atOnce(
        Array.from({ length: 60 }, (_, fiber) =>
          fiber % 2 === 0 ? Effect.as(append(keys(`${fiber}-`, 10)), []) : Effect.map(take(7), toStrings)
        )
      )
      const all = [...taken.flat(), ...toStrings(yield* take(1_000))]
      const appended = Array.from({ length: 30 }, (_, index) => numbered(`${index * 2}-`, 10))
      expect(all.toSorted()).toEqual(appended.flat().toSorted())
    })
  )
})

describe("a key file on disk", () => {
  it.scopedLive("has its keys side by side behind 32 bytes, for this user alone", () =>
    Effect.gen(function* () {
      const path = yield* newPath
      const file = yield* open(path)
      yield* file.append(fromStrings(["abcdefg", "abc"]))
      expect(readFileSync(path).subarray(32).toString("latin1")).toBe("abcdefgabc\0\0\0\0")
      expect(statSync(path).mode & 0o777).toBe(0o600)
    })
  )

  it.scopedLive("goes on where it was, and does not see what was being put in when its process died", () =>
    Effect.gen(function* () {
      const path = yield* newPath
      const before = yield* open(path)
      yield* before.append(keys("a", 5))
      yield* before.take(2)
      appendFileSync(path, "torn away")
      const after = yield* open(path)
      expect(yield* after.size).toBe(3)
      yield* after.append(keys("b", 1))
      expect(toStrings(yield* after.take(9))).toEqual(["a2", "a3", "a4", "b0"])
      expect(yield* (yield* open(path)).size).toBe(0)
    })
  )

  it.scopedLive("refuses a file that is none, of another width, or shorter than it was, by its name", () =>
    Effect.gen(function* () {
      const path = yield* newPath
      const refused = (keyWidth: number, reason: RegExp) =>
        Effect.map(Effect.flip(open(path, keyWidth)), ({ message }) => {
          expect(message).toMatch(reason)
          expect(message).toContain(path)
        })
      yield* Effect.scoped(Effect.flatMap(open(path), ({ append }) => append(keys("a", 5))))
      yield* refused(8, /its keys have 7 characters, not 8/)
      truncateSync(path, 60)
      yield* refused(7, /it is damaged/)
      writeFileSync(path, "something else, and long enough for a header")
      yield* refused(7, /it is no key file/)
      writeFileSync(path, "")
      yield* refused(7, /it is no key file/)
    })
  )

  it.scopedLive("drops what was taken when that is most of it, and keeps the rest", () =>
    Effect.gen(function* () {
      const path = yield* newPath
      const file = yield* open(path)
      yield* file.append(keys("a", 200_000))
      yield* file.take(160_000)
      yield* file.append(keys("b", 1))
      expect(statSync(path).size).toBe(32 + 40_001 * width)
      expect(toStrings(yield* file.take(1))).toEqual(["a160000"])
      const again = yield* open(path)
      const rest = toStrings(yield* again.take(50_000))
      expect([rest[0], rest.length, rest.at(-1)]).toEqual(["a160001", 40_000, "b0"])
    })
  )

  it.scopedLive(
    "gives no key twice, loses none that it said it has, and leaves no handle open, whichever writes fail",
    () => {
      const step = fc.record({
        what: fc.constantFrom("append" as const, "take" as const, "open" as const),
        /** Which of the writes, syncs and renames from now on fails; 9: hardly any. */
        fails: fc.constantFrom(0, 1, 2, 3, 4, 5, 6, 9, 9, 9)
      })
      return forAll(
        fc.array(step, { maxLength: 25 }),
        (steps) =>
          Effect.gen(function* () {
            const path = yield* newPath
            let left = Number.POSITIVE_INFINITY
            let handles = 0
            const faulty = <A>(operation: Effect.Effect<A, PlatformError>) =>
              Effect.suspend(() =>
                left-- === 0
                  ? new SystemError({
                      module: "FileSystem",
                      method: "write",
                      reason: "Unknown",
                      pathOrDescriptor: path
                    })
                  : operation
              )
            const failing = Layer.effect(
              FileSystem.FileSystem,
              Effect.map(FileSystem.FileSystem, (fs) => ({
                ...fs,
                rename: (...args: Parameters<typeof fs.rename>) => faulty(fs.rename(...args)),
                open: (...args: Parameters<typeof fs.open>) =>
                  Effect.map(
                    Effect.zipLeft(
                      fs.open(...args),
                      Effect.acquireRelease(
                        Effect.sync(() => handles++),
                        () => Effect.sync(() => handles--)
                      )
                    ),
                    (file) =>
                      new Proxy(file, {
                        get: (target, name: keyof FileSystem.File) => {
                          if (name === "sync") return faulty(target.sync)
                          if (name === "writeAll")
                            return (bytes: Uint8Array) => faulty(target.writeAll(bytes))
                          const value = target[name]
                          return typeof value === "function" ? value.bind(target) : value
                        }
                      })
                  )
              }))
            ).pipe(Layer.provideMerge(NodeContext.layer))
            const opened = Effect.gen(function* () {
              const scope = yield* Scope.make()
              const file = yield* KeyFileDisk.make(path, width, 1).pipe(
                Scope.extend(scope),
                Effect.provide(failing)
              )
              return { file, close: Scope.close(scope, Exit.void) }
            })
            let current = yield* opened
            const [given, sure] = [new Array<string>(), new Array<string>()]
            let passedOver = 0
            for (const [index, { fails, what }] of steps.entries()) {
              left = what === "open" ? Number.POSITIVE_INFINITY : fails
              if (what === "open") {
                yield* current.close
                current = yield* opened
              } else if (what === "append") {
                const some = numbered(`${index}-`, 4)
                const done = yield* Effect.either(current.file.append(fromStrings(some)))
                if (done._tag === "Right") sure.push(...some)
              } else {
                const taken = yield* Effect.either(current.file.take(3))
                if (taken._tag === "Right") given.push(...toStrings(taken.right))
                else passedOver += 3
              }
              expect(handles).toBe(1)
            }
            left = Number.POSITIVE_INFINITY
            yield* current.close
            current = yield* opened
            given.push(...toStrings(yield* current.file.take(1_000)))
            yield* current.close
            expect(new Set(given).size).toBe(given.length)
            const missing = sure.filter((key) => !given.includes(key))
            expect(missing.length).toBeLessThanOrEqual(passedOver)
          }).pipe(Effect.scoped),
        { numRuns: 60 }
      )
    }
  )
})
