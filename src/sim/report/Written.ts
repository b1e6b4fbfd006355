import { FileSystem } from "@effect/platform"
import { Config, Console, Effect } from "effect"
import { isAbsolute, resolve } from "node:path"
import { CommandFailed } from "../cli/Command.ts"
import { exitCode } from "./ExitCode.ts"

/** A path as the caller of `npm run` means it. */
export const pathOf = (path: string) =>
  Effect.map(Effect.orDie(Config.withDefault(Config.string("INIT_CWD"), process.cwd())), (cwd) =>
    isAbsolute(path) ? path : resolve(cwd, path)
  )

/** Writes a report, and says so. */
export const write = (path: string, text: string) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    yield* fileSystem.writeFileString(yield* pathOf(path), text)
    yield* Console.error(`Written: ${path}`)
  }).pipe(
    Effect.mapError(
      (error) =>
        new CommandFailed({
          code: exitCode.notWritten,
          message: `${path} could not be written: ${error.message}`
        })
    )
  )
