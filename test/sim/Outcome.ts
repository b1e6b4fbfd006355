// What comes of the simulation's commands, which run in this process: only their threads take a start.

import { NodeContext } from "@effect/platform-node"
import { Effect } from "effect"
import type { Command } from "../../src/sim/cli/Command.ts"

/** Why a command cannot do its work. The program prints the message and ends with the code: `cli/Program.test.ts` has it crash, and looks at both. */
export const failureOf = (command: ReturnType<Command>) =>
  Effect.runPromise(Effect.provide(Effect.flip(command), NodeContext.layer))

/** How a command ends, and what it gives to the console. */
export const outcomeOf = (command: ReturnType<Command>) => {
  const lines: Array<unknown> = []
  const ended = Effect.gen(function* () {
    const console = yield* Effect.console
    const log = (line: unknown) => Effect.sync(() => void lines.push(line))
    return { code: yield* Effect.withConsole(command, { ...console, log }), lines }
  })
  return Effect.runPromise(Effect.provide(ended, NodeContext.layer))
}
