import { NodeContext } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe } from "vitest"
import * as DataFolder from "../../../src/storage/nodes/DataFolder.ts"
import { spawnChild } from "../../support/Child.ts"
import { atOnce } from "../../support/Property.ts"
import { temporaryFolder } from "../../support/Stores.ts"

/** Root may write anywhere, so a child of root becomes somebody else. */
const nobody = process.getuid?.() === 0 ? ["65534"] : []

const take = (folder: string, pid = process.pid) =>
  Effect.map(
    Layer.build(Layer.provide(DataFolder.layer(folder, pid), NodeContext.layer)),
    Context.get(DataFolder.DataFolder)
  )

describe("the data folder", () => {
  it.scopedLive("is made where it is missing, for this user alone", () =>
    Effect.gen(function* () {
      const folder = join(yield* temporaryFolder, "some", "data")
      const taken = yield* take(folder)
      expect(taken).toEqual({
        path: folder,
        databaseFile: join(folder, "linkmint.db"),
        clockFile: join(folder, "clock.json")
      })
      expect(statSync(folder).mode & 0o777).toBe(0o700)
    })
  )

  it.scopedLive("may have any name", () =>
    Effect.gen(function* () {
      const parent = yield* temporaryFolder
      const folder = join(parent, "100% mine #1? zażółć")
      yield* take(folder)
      expect(existsSync(join(folder, "lock.db"))).toBe(true)
      expect(yield* Effect.flip(take(folder))).toBeInstanceOf(DataFolder.DataFolderInUse)
    })
  )

  it.scopedLive("is refused to a second one in the same process, which is told who has it", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* take(folder, 4_711)
      const error = yield* Effect.flip(take(folder, 4_712))
      expect(error).toBeInstanceOf(DataFolder.DataFolderInUse)
      expect(error.message).toContain(`${folder} is in use by process 4711, running since 20`)
      expect((yield* Effect.flip(take(folder, 4_713))).message).toContain("process 4711")
    })
  )

  it.scopedLive("is free again when the scope closes, at once and however often", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      for (let pid = 1; pid <= 5; pid++) {
        const scope = yield* Scope.make()
        yield* Scope.extend(take(folder, pid), scope)
        expect((yield* Effect.flip(take(folder))).message).toContain(`process ${pid},`)
        yield* Scope.close(scope, Exit.void)
      }
      yield* take(folder)
    })
  )

  it.scopedLive("goes to one of many who start at once", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const children = yield* atOnce(Array.from({ length: 3 }, () => spawnChild("HoldFolder", [folder])))
      const told = yield* atOnce(
        children.map(({ line }) => Effect.raceFirst(line("holding"), line("refused DataFolderInUse")))
      )
      expect(told.filter((line) => line.startsWith("holding"))).toHaveLength(1)
      expect(yield* Effect.flip(take(folder))).toBeInstanceOf(DataFolder.DataFolderInUse)
    })
  )

  it.scopedLive("is refused while another process has it, and free when that is killed", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const child = yield* spawnChild("HoldFolder", [folder])
      yield* child.line("holding")
      const error = yield* Effect.flip(take(folder))
      expect(error).toBeInstanceOf(DataFolder.DataFolderInUse)
      expect(error.message).toContain(`process ${child.pid},`)
      yield* child.kill
      yield* take(folder)
      const second = yield* spawnChild("HoldFolder", [folder])
      expect(yield* second.line("refused")).toContain(`DataFolderInUse`)
      expect(yield* second.line("refused")).toContain(`process ${process.pid},`)
    })
  )

  it.scopedLive("is unusable where it is a file, or lies in one", () =>
    Effect.gen(function* () {
      const file = join(yield* temporaryFolder, "file")
      writeFileSync(file, "")
      for (const folder of [file, join(file, "data")]) {
        const error = yield* Effect.flip(take(folder))
        expect(error).toBeInstanceOf(DataFolder.DataFolderUnusable)
        expect(error.message).toContain(folder)
      }
    })
  )

  it.scopedLive("is unusable where this user cannot write", () =>
    Effect.gen(function* () {
      const parent = yield* temporaryFolder
      chmodSync(parent, 0o755)
      const folder = join(parent, "data")
      mkdirSync(folder)
      chmodSync(folder, 0o555)
      const child = yield* spawnChild("HoldFolder", [folder, ...nobody])
      const line = yield* child.line("refused")
      expect(line).toContain("DataFolderUnusable")
      expect(line).toContain(folder)
    })
  )

  it.scopedLive("is unusable where its lock file is none", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      mkdirSync(join(folder, "lock.db"))
      expect(yield* Effect.flip(take(folder))).toBeInstanceOf(DataFolder.DataFolderUnusable)
    })
  )

  it.scopedLive("says that it is in use also where its holder has not said who it is", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* take(folder)
      writeFileSync(join(folder, "lock.json"), "{")
      expect((yield* Effect.flip(take(folder))).message).toContain("in use by another process")
    })
  )
})
