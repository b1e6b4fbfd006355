import { expect, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { describe, inject } from "vitest"
import {
  administer,
  describeRedis,
  describeRedisProcess,
  freshRedis,
  keyNames,
  ownProgram,
  parsed
} from "./Redis.ts"
import { freePorts } from "../../FreePort.ts"
import { makeRedisProcess } from "./RedisProcess.ts"
import { findProgram, localServer } from "./RedisServer.ts"
import { Unavailable } from "../Service.ts"

const server = inject("redis")

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

// Folders as in PATH, each with a program that says these versions.
const folders = (...versions: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const root = mkdtempSync(join(tmpdir(), "linkmint-redis-"))
      const path = versions.map((version, index) => {
        const folder = join(root, String(index))
        mkdirSync(folder)
        const output = `Redis server v=${version} sha=00000000:0 malloc=jemalloc-5.2.1 bits=64 build=0`
        writeFileSync(join(folder, "redis-server"), `#!/bin/sh\necho '${output}'\n`, { mode: 0o755 })
        return folder
      })
      return { root, path }
    }),
    ({ root }) => Effect.sync(() => rmSync(root, { recursive: true, force: true }))
  )

describe("findProgram", () => {
  it.scoped("takes the first in PATH that is new enough", () =>
    Effect.gen(function* () {
      const { path } = yield* folders("6.2.14", "7.0.15", "7.4.1")
      expect(yield* findProgram(path.join(delimiter))).toBe(join(path[1]!, "redis-server"))
    })
  )

  it.scoped("says which versions are too old, and where it looked when there is nothing", () =>
    Effect.gen(function* () {
      const { path } = yield* folders("6.2.14")
      expect((yield* Effect.flip(findProgram(path[0]))).reason).toContain(
        `${path[0]}/redis-server is Redis 6.2.14`
      )
      expect((yield* Effect.flip(findProgram(""))).reason).toBe("no redis-server 7 or newer in PATH")
    })
  )

  it.scoped("gives both reasons where installing did not help", () =>
    Effect.gen(function* () {
      const source = localServer("", Effect.fail(new Unavailable({ reason: "not root" })))
      expect((yield* Effect.flip(source)).reason).toBe("no redis-server 7 or newer in PATH; not root")
    })
  )
})

describeRedis("Redis for tests", () => {
  it.scopedLive("is the server, of the version, that the last line of the run names", () =>
    Effect.gen(function* () {
      const { urls } = yield* freshRedis()
      const info = yield* administer(urls[0]!, (redis) => redis.info("server"))
      expect(server._tag === "Running" && info.includes(`redis_version:${server.version}\r\n`)).toBe(true)
    })
  )

  it.scopedLive("gives namespaces that are apart, and deletes their keys at the end of their scope", () =>
    Effect.gen(function* () {
      const kept = yield* freshRedis()
      const scope = yield* Scope.make()
      const { namespace, urls } = yield* Scope.extend(freshRedis(), scope)
      expect(namespace).not.toBe(kept.namespace)
      const names = [namespace, kept.namespace].flatMap((each) =>
        [1, 2, 3].map((name) => `linkmint:{${each}}:${name}`)
      )
      yield* administer(urls[0]!, (redis) => redis.mset(...names.flatMap((name) => [name, "x"])))
      yield* Scope.close(scope, Exit.void)
      expect(yield* keyNames(urls[0]!, namespace)).toEqual([])
      expect((yield* keyNames(urls[0]!, kept.namespace)).toSorted()).toEqual(names.slice(3))
    })
  )
})

describeRedisProcess("a Redis server of a test's own", () => {
  it.scopedLive("comes back on its port after a kill, and goes at the end of its scope, paused or not", () =>
    Effect.gen(function* () {
      const program = yield* ownProgram
      const [port] = yield* freePorts(1)
      const scope = yield* Scope.make()
      const own = yield* makeRedisProcess({ program, port: port!, config: ["appendonly yes"] }).pipe(
        Scope.extend(scope)
      )
      const first = own.pid()
      const url = parsed(`redis://127.0.0.1:${port}`)
      yield* administer(url, (redis) => redis.set("name", "value"))
      const [, folder] = yield* administer(url, async (redis) => {
        const setting = await redis.config("GET", "dir")
        return setting as [name: string, value: string]
      })
      yield* own.kill
      expect(isAlive(first)).toBe(false)
      yield* own.start
      expect(own.pid()).not.toBe(first)
      expect(yield* administer(url, (redis) => redis.get("name"))).toBe("value")
      yield* own.pause
      const last = own.pid()
      yield* Scope.close(scope, Exit.void)
      expect(isAlive(last)).toBe(false)
      expect(existsSync(folder)).toBe(false)
    })
  )
})
