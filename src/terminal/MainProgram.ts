import { Runtime } from "@effect/platform"
import { NodeRuntime } from "@effect/platform-node"
import { Data, type Effect, type Either, Exit } from "effect"

/** Something was found wrong, or not reached; what was printed says what. The program ends with status 1. */
export class Wrong extends Data.TaggedError("Wrong")<{}> {}

/** The status of a program that Ctrl-C ended. */
export const interrupted = 130

/** The status of a program whose arguments are not usable. */
const unusable = 2

/** Has the process live on where nobody reads its standard output or standard error any more: they may be pipes. */
export const tolerateClosedPipes = (): void => {
  process.stdout.on("error", () => {})
  process.stderr.on("error", () => {})
}

/** A run that was interrupted has not found that all is well. */
const interruptedTeardown: Runtime.Teardown = (exit, onExit) =>
  Runtime.defaultTeardown(exit, (code) => onExit(Exit.isInterrupted(exit) ? interrupted : code))

/**
 * Runs a command that prints what it finds: with what its arguments were parsed to, or it prints the usage, or what is wrong with them.
 * Failures are printed by the command itself; they end the process with status 1.
 */
export const runCommand = <Options, E>(
  parsed: Either.Either<Options | "help", string>,
  usage: string,
  run: (options: Options) => Effect.Effect<void, E>,
  { teardown = interruptedTeardown }: { readonly teardown?: Runtime.Teardown } = {}
): void => {
  tolerateClosedPipes()
  if (parsed._tag === "Left") {
    process.stderr.write(`${parsed.left}\n\n${usage}\n`)
    process.exitCode = unusable
  } else if (parsed.right === "help") {
    process.stdout.write(`${usage}\n`)
  } else {
    NodeRuntime.runMain(run(parsed.right as Options), { disableErrorReporting: true, teardown })
  }
}
