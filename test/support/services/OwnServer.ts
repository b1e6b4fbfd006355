// What any server of our own needs: a folder, a free port, and patience until it answers.

import { type Duration, Effect, Schedule, type Scope } from "effect"
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../FreePort.ts"
import { type RunAs, run } from "./Command.ts"
import type { Kept } from "./Keeper.ts"
import { type Source, Unavailable, releasedOnFailure } from "./Service.ts"

const giveTo = (path: string, { uid, gid }: RunAs) => {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
}

/** Writes a file that only `user` can read. */
export const writeSecret = (path: string, secret: string, user: RunAs): void => {
  writeFileSync(path, secret, { mode: 0o600 })
  giveTo(path, user)
}

/**
 * A new folder that belongs to `user`, who can also get to it: as root our TMPDIR may be closed to others, and then
 * it is in `/tmp`. It goes when the scope closes. `parent` is where it is, if the user can get to it there.
 */
export const temporaryFolder = (
  user: RunAs,
  parent: string = tmpdir()
): Effect.Effect<string, Unavailable, Scope.Scope> => {
  const inside = (parent: string) =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(parent, "linkmint-"))),
        (made) => Effect.sync(() => rmSync(made, { recursive: true, force: true }))
      )
      giveTo(folder, user)
      yield* run("test", ["-x", folder], user)
      return folder
    }).pipe(releasedOnFailure)
  return Effect.orElse(inside(parent), () => inside("/tmp"))
}

/** How to start a server and how to tell that it is up. */
export interface Starting {
  /** Where the server comes from, as the summary says it. */
  readonly origin: string
  readonly url: (port: number) => string
  readonly start: (port: number) => Effect.Effect<Kept, Unavailable, Scope.Scope>
  /** Gives the server's version once it answers; tried again every 100 ms. */
  readonly version: (url: string) => Effect.Effect<string, Unavailable>
  /** How long it may take until it answers. */
  readonly limit: Duration.DurationInput
}

/** Starts a server on a free port, up to four times if others take the port, and waits until it answers. */
export const startOnFreePort = ({ limit, origin, start, ...server }: Starting): Source =>
  Effect.gen(function* () {
    // Nobody listens on it now. Somebody may before our server does, hence the retries below.
    const port = yield* freePort
    const url = server.url(port)
    const kept = yield* start(port)
    const failure = (how: string) =>
      new Unavailable({ reason: `${origin}, ${how}`, detail: kept.output() || "(it printed nothing)" })
    const stopped = Effect.flatMap(kept.ended, () => failure("did not start"))
    const version = yield* server
      .version(url)
      .pipe(
        Effect.retry(Schedule.spaced("100 millis")),
        Effect.raceFirst(stopped),
        Effect.timeoutFail({ duration: limit, onTimeout: () => failure("did not answer in time") })
      )
    return { _tag: "Running" as const, url, version, origin }
  }).pipe(
    releasedOnFailure,
    Effect.retry({
      times: 3,
      while: ({ detail = "" }) => /address already in use|port is already allocated/i.test(detail)
    })
  )
