import type { NodeContext } from "@effect/platform-node"
import { Data, type Effect } from "effect"
import { exitCode } from "../report/ExitCode.ts"
import type { WorkerFailed } from "./Thread.ts"

/** Why a command could not do its work, and with which status the program ends. */
export class CommandFailed extends Data.TaggedError("CommandFailed")<{
  readonly code: number
  readonly message: string
}> {}

/** The arguments are not usable. */
export const misused = (message: string, usage: string): CommandFailed =>
  new CommandFailed({ code: exitCode.usage, message: `${message}\n\n${usage}` })

/** A thread ended before its work was done. */
export const workerCrashed = ({ message }: WorkerFailed): CommandFailed =>
  new CommandFailed({ code: exitCode.crashed, message })

/** A command of `npm run sim`: takes the arguments after its name, and gives the program's exit status. */
export type Command = (
  args: ReadonlyArray<string>
) => Effect.Effect<number, CommandFailed, NodeContext.NodeContext>
