import { Runtime } from "@effect/platform"
import { NodeRuntime } from "@effect/platform-node"
import { Data, type Effect, type Either, Exit } from "effect"

/** A check failed, or something could not be reached; the output says what. The program ends with status 1. */
export class Wrong extends Data.TaggedError("Wrong")<{}> {}

/** The status of a program that Ctrl-C ended. */
export const interrupted = 130

/** The status of a program whose arguments are not usable. */
const unusable = 2

/** Keeps the process alive when the reader of its standard output or standard error has gone: they may be pipes. */
export const tolerateClosedPipes = (): void => {
  process.stdout.on("error", () => {})
  process.stderr.on("error", () => {})
}

/** An interrupted run must not end with status 0. */
const interruptedTeardown: Runtime.Teardown = (exit, onExit) =>
  Runtime.defaultTeardown(exit, (code) => onExit(Exit.isInterrupted(exit) ? interrupted : code))

/**
 * Runs a command with its parsed arguments, or prints the usage, or says what is wrong with the arguments. The command prints its own
 * failures; they end the process with status 1.
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
