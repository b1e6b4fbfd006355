import { it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync, spawn, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect } from "vitest"
import { inRepository } from "../../cluster/Repository.ts"
import { describeRedis } from "../support/services/redis/Redis.ts"
import { freePorts } from "../support/FreePort.ts"

const cli = (port: number, password: string, ...command: ReadonlyArray<string>) =>
  spawnSync("redis-cli", ["-p", String(port), ...command], {
    env: { PATH: process.env["PATH"], ...(password !== "" && { REDISCLI_AUTH: password }) },
    encoding: "utf8"
  }).stdout.trim()

/** Runs the script that a container runs, and kills what it became. */
const server = (folder: string, port: number) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      spawn("sh", [inRepository("redis/server.sh"), folder, String(port)], {
        env: {
          PATH: process.env["PATH"],
          BIND: "127.0.0.1",
          REDIS_PASSWORD_FILE: join(folder, "password")
        },
        stdio: "ignore"
      })
    ),
    (child) =>
      Effect.async<void>((resume) => {
        child.once("exit", () => resume(Effect.void))
        child.kill("SIGKILL")
      })
  )

const untilAnswers = (port: number) =>
  Effect.repeat(
    Effect.delay(
      Effect.sync(() => cli(port, "", "ping")),
      "20 millis"
    ),
    { until: (answer) => answer !== "" }
  )

describeRedis("a Redis of docker compose", () => {
  it.scopedLive("answers who has the password, as the file says it at each start, and nobody else", () =>
    Effect.gen(function* () {
      execFileSync("redis-cli", ["--version"])
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "linkmint-"))),
        (made) => Effect.sync(() => rmSync(made, { recursive: true }))
      )
      const [port] = yield* freePorts(1)
      for (const password of ["first", "second"]) {
        writeFileSync(join(folder, "password"), password)
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* server(folder, port!)
            yield* untilAnswers(port!)
            expect(cli(port!, "", "ping")).toContain("NOAUTH")
            expect(cli(port!, password, "ping")).toBe("PONG")
            expect(cli(port!, password, "config", "get", "masterauth")).toBe(`masterauth\n${password}`)
            // As a Sentinel makes it do, with the password's hash in a line of its own.
            expect(cli(port!, password, "config", "rewrite")).toBe("OK")
          })
        )
      }
      const config = join(folder, "redis.conf")
      expect(readFileSync(config, "utf8")).not.toContain("first")
      expect(statSync(config).mode & 0o077).toBe(0)
    })
  )
})
