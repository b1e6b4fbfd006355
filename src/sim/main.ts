// `npm run sim`: runs the simulation and reports its findings.

import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Exit, Logger, LogLevel } from "effect"
import { tolerateClosedPipes } from "../terminal/MainProgram.ts"
import type { Command } from "./cli/Command.ts"
import * as Compare from "./compare/command.ts"
import * as Mutants from "./mutants/command.ts"
import { exitCode } from "./report/ExitCode.ts"
import * as Seeds from "./cli/Seeds.ts"

tolerateClosedPipes()

/** The commands, by the first argument; without one, seeds are run. */
const commands: ReadonlyMap<string, Command> = new Map([
  ["seeds", Seeds.command],
  ["mutants", Mutants.command],
  ["compare", Compare.command]
])

const [first = "", ...rest] = process.argv.slice(2)
const named = commands.get(first)
const command = named === undefined ? Seeds.command(process.argv.slice(2)) : named(rest)

NodeRuntime.runMain(
  command.pipe(
    Effect.catchTag("CommandFailed", ({ code, message }) => Effect.as(Console.error(message), code)),
    Effect.tapDefect((cause) => Console.error(String(cause))),
    Effect.provide(NodeContext.layer),
    Logger.withMinimumLogLevel(LogLevel.None)
  ),
  {
    disableErrorReporting: true,
    teardown: (exit, onExit) =>
      onExit(
        Exit.isSuccess(exit)
          ? (exit.value as number)
          : Exit.isInterrupted(exit)
            ? exitCode.interrupted
            : exitCode.unexpected
      )
  }
)
