// Starting references: what people write by hand, in processes of their own.

import { Effect, type Scope } from "effect"
import { join } from "node:path"
import { launch } from "../../cluster/Launch.ts"
import { inRepository } from "../../cluster/Repository.ts"
import { freePort } from "../../test/support/FreePort.ts"
import { run } from "../../test/support/services/Command.ts"
import type { Unavailable } from "../../test/support/services/Service.ts"
import * as EventLoop from "../EventLoop.ts"
import type { Ground, Server } from "../Ground.ts"
import { sampleIn } from "../load/Load.ts"

const scriptOf = (name: string) => inRepository(`dist/bench/${name}.js`)

/** A server of this folder, by its name, until the scope closes. */
export const startReference = Effect.fn("startReference")(function* (
  ground: Ground,
  name: string,
  variables: Readonly<Record<string, string>> = {}
): Effect.fn.Return<Server, Unavailable, Scope.Scope> {
  const { folder } = ground
  const port = yield* freePort
  const { pid } = yield* launch({
    name: `the reference ${name}`,
    folder: join(folder, `${name}-${port}`),
    commands: [[process.execPath, scriptOf(`references/${name}`)]],
    env: { PATH: process.env["PATH"], PORT: String(port), ...EventLoop.watched(ground), ...variables },
    signal: "KILL",
    answers: Effect.tryPromise(() =>
      fetch(`http://127.0.0.1:${port}/`, { redirect: "manual", signal: AbortSignal.timeout(3_000) })
    ),
    limit: "20 seconds"
  })
  return { port, pid }
})

/** Runs a program of the benchmark's own that measures by itself, and gives what it says. */
export const runProgram = (name: string, seconds: number, variables: Readonly<Record<string, string>>) =>
  run(process.execPath, ["--expose-gc", scriptOf(name), String(seconds)], {
    env: { PATH: process.env["PATH"], ...variables },
    timeout: `${seconds + 60} seconds`
  })

/** The same where it says one sample. */
export const runSample = (name: string, seconds: number, variables: Readonly<Record<string, string>>) =>
  Effect.flatMap(runProgram(name, seconds, variables), sampleIn)
