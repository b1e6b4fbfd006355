import { NodeContext } from "@effect/platform-node"
import { Effect } from "effect"
import type { Command } from "../../src/sim/cli/Command.ts"

/** Why a command cannot do its work. The program prints the message and ends with the code: `cli/Program.test.ts` has it crash, and looks at both. */
export const failureOf = (command: ReturnType<Command>) =>
  Effect.runPromise(Effect.provide(Effect.flip(command), NodeContext.layer))
