// A real server that the tests run against, and the ways to come by one.

import { Data, Effect, Exit, Scope } from "effect"

/** A server that answers: its URL (with credentials, for tests only), its version, and where it came from. */
export interface Running {
  readonly _tag: "Running"
  readonly url: string
  readonly version: string
  readonly origin: string
}

/** No server could be had; `reason` is one line that says why for each way that was tried. */
export interface Missing {
  readonly _tag: "Missing"
  readonly reason: string
}

/** What the global setup hands to the tests, as plain data: it crosses to the worker processes. */
export type Availability = Running | Missing

/**
 * One way to come by a server did not work. `reason` is a line for the summary; `detail` (the tail of the
 * server's log, say) is there only where something failed that should have worked.
 */
export class Unavailable extends Data.TaggedError("Unavailable")<{
  readonly reason: string
  readonly detail?: string
}> {
  override get message(): string {
    return this.detail === undefined ? this.reason : `${this.reason}\n${this.detail}`
  }
}

/** One way to come by a server, which runs until the scope closes. */
export type Source = Effect.Effect<Running, Unavailable, Scope.Scope>

/** Runs an effect whose resources go at once if it fails, and with the surrounding scope if it succeeds. */
export const releasedOnFailure = <A, E>(
  effect: Effect.Effect<A, E, Scope.Scope>
): Effect.Effect<A, E, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const outer = yield* Effect.scope
      const scope = yield* Scope.make()
      const exit = yield* Effect.exit(restore(Scope.extend(effect, scope)))
      if (Exit.isFailure(exit)) yield* Scope.close(scope, exit)
      else yield* Scope.addFinalizerExit(outer, (end) => Scope.close(scope, end))
      return yield* exit
    })
  )

/** Takes the first way that works, in order. Failures with a detail are told in full on stderr. */
export const firstAvailable = Effect.fn("firstAvailable")(function* (
  name: string,
  sources: ReadonlyArray<Source>
): Effect.fn.Return<Availability, never, Scope.Scope> {
  const reasons: Array<string> = []
  for (const source of sources) {
    const found = yield* Effect.either(releasedOnFailure(source))
    if (found._tag === "Right") return found.right
    reasons.push(found.left.reason.replace(/\s+/g, " ").trim())
    if (found.left.detail !== undefined) process.stderr.write(`${name}: ${found.left.message}\n`)
  }
  return { _tag: "Missing", reason: reasons.join("; ") }
})

/** A kind of server for tests. */
export interface Kind {
  /** Its people's name. */
  readonly name: string
  /** The environment variable that names one that somebody runs already. */
  readonly variable: string
  /** The oldest major version that is of use. */
  readonly oldestMajor: number
  /** Asks the server at a URL for its version. */
  readonly version: (url: string) => Effect.Effect<string, Unavailable>
}

const givenServer = Effect.fn("givenServer")(function* (
  { name, oldestMajor, variable, version: versionOf }: Kind,
  url: string
): Effect.fn.Return<Running, Unavailable> {
  const version = yield* versionOf(url)
  if (Number.parseInt(version) < oldestMajor) {
    return yield* new Unavailable({ reason: `${name} ${version} is older than ${oldestMajor}` })
  }
  return { _tag: "Running", url, version, origin: variable }
})

/**
 * The server for a test run: the one that the kind's variable names, where that is set (an error if it does not answer, because
 * somebody meant it), else the first way that works, else missing.
 */
export const serverForTests = (
  kind: Kind,
  sources: ReadonlyArray<Source>
): Effect.Effect<Availability, Unavailable, Scope.Scope> =>
  Effect.suspend(() => {
    const url = process.env[kind.variable]
    if (url === undefined || url === "") return firstAvailable(kind.name, sources)
    return Effect.mapError(
      givenServer(kind, url),
      ({ message }) => new Unavailable({ reason: `${kind.variable}: ${message}` })
    )
  })
