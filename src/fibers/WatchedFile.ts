import { FileSystem } from "@effect/platform"
import type { PlatformError } from "@effect/platform/Error"
import { Duration, Effect, Option, type Scope } from "effect"
import * as Pulse from "../time/Pulse.ts"

/** How often a file is looked at. Not by the operating system's news of it, which many mounted file systems do not give. */
export const lookEvery = Duration.seconds(2)

/** Why a file cannot be read. */
const reasonOf = (error: PlatformError): string => {
  if (error._tag === "SystemError" && error.reason === "NotFound") return "there is no such file"
  if (error._tag === "SystemError" && error.reason === "PermissionDenied") return "it must not be read"
  return error.message
}

/** What another version of the file would have otherwise. */
const versionOf = ({ ino, mtime, size }: FileSystem.File.Info): string =>
  [size, Option.getOrUndefined(ino), Option.getOrUndefined(mtime)?.getTime()].join(" ")

/** A file that an operator names, and what is made of it. */
export interface WatchedFile<A, E> {
  readonly file: string
  /** Bytes that it may have at most. */
  readonly bytesMax: number
  readonly load: Effect.Effect<A, E | PlatformError, FileSystem.FileSystem>
  readonly unusable: (reason: string) => E
  /** What is logged of a version when it is loaded. */
  readonly describe: (loaded: A) => string
}

/**
 * What is in a file, loaded now and again whenever the file has changed, within 2 s of it. A file that cannot be used is an error at first; later it is logged,
 * and what was loaded before stays.
 */
export const watch = <A, E extends { readonly message: string }>({
  bytesMax,
  describe,
  file,
  load,
  unusable
}: WatchedFile<A, E>): Effect.Effect<() => A, E, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const isPlatformError = (error: E | PlatformError): error is PlatformError =>
      "_tag" in error && (error._tag === "SystemError" || error._tag === "BadArgument")
    const orUnusable = <B>(self: Effect.Effect<B, E | PlatformError, FileSystem.FileSystem>) =>
      Effect.mapError(self, (error): E => (isPlatformError(error) ? unusable(reasonOf(error)) : error))

    const info = orUnusable(fs.stat(file))

    const read = Effect.gen(function* () {
      const { size, type } = yield* info
      if (type !== "File") return yield* Effect.fail(unusable("it is not a file"))
      if (size > bytesMax) return yield* Effect.fail(unusable(`it has more than ${bytesMax} bytes`))
      return yield* orUnusable(load)
    })

    const version = Effect.match(info, { onSuccess: versionOf, onFailure: ({ message }) => message })

    // Before the file itself: what changes while it is read is read again.
    let seen = yield* version
    let loaded = yield* read
    yield* Effect.logInfo(describe(loaded))

    const look = Effect.gen(function* () {
      const now = yield* version
      if (now === seen) return
      seen = now
      loaded = yield* read
      yield* Effect.logInfo(`Changed: ${describe(loaded)}`)
    }).pipe(
      Effect.catchAll(({ message }) => Effect.logWarning(`${message} The former version stays in use.`))
    )

    yield* Effect.forkScoped(Pulse.forever(look, lookEvery))
    return () => loaded
  })
