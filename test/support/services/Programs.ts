// Programs of this machine: which of several is new enough, and how one gets there if none is.

import { Effect } from "effect"
import { accessSync, constants } from "node:fs"
import { join } from "node:path"
import { type RunAs, run } from "./Command.ts"
import { Unavailable } from "./Service.ts"

/** Whether we may run a file. */
export const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** What is looked for. */
export interface Wanted {
  /** Its people's name. */
  readonly product: string
  /** The argument that makes it print its version, and where that stands in what it prints. */
  readonly versionArgument: string
  readonly version: RegExp
  readonly isOld: (version: string) => boolean
  /** What is said where there is none that fits. */
  readonly none: string
}

/** Something that may fit: the program, and what is said to be of a version that is too old. */
export interface Candidate {
  readonly program: string
  readonly shown: string
}

/** The programs of this name in folders with absolute paths; others are passed over. */
export const inFolders = (name: string, folders: ReadonlyArray<string>): ReadonlyArray<Candidate> => {
  const programs = folders.filter((folder) => folder.startsWith("/")).map((folder) => join(folder, name))
  return [...new Set(programs.filter(isExecutable))].map((program) => ({ program, shown: program }))
}

/** The first of the programs that runs and is not too old, with its version. The error says what was found instead. */
export const firstFit = Effect.fn("firstFit")(function* <A extends Candidate>(
  { isOld, none, product, version: shape, versionArgument }: Wanted,
  candidates: Iterable<A>,
  user: RunAs = {}
): Effect.fn.Return<A & { readonly version: string }, Unavailable> {
  const unfit: Array<string> = []
  for (const candidate of candidates) {
    const answer = yield* Effect.option(run(candidate.program, [versionArgument], user))
    const version = answer._tag === "Some" ? shape.exec(answer.value)?.[1] : undefined
    if (version === undefined) unfit.push(`${candidate.program} does not run`)
    else if (isOld(version)) unfit.push(`${candidate.shown} is ${product} ${version}`)
    else return { ...candidate, version }
  }
  return yield* new Unavailable({ reason: unfit.length === 0 ? none : `${none} (${unfit.join(", ")})` })
})

/** Looks for a program; where it is not, `install` shall add it. The error says why neither helped. */
export const findOrInstall = <A>(
  find: Effect.Effect<A, Unavailable>,
  install: Effect.Effect<void, Unavailable>
): Effect.Effect<A, Unavailable> =>
  Effect.catchAll(find, (none) =>
    install.pipe(
      Effect.mapError(({ detail, reason }) => {
        const both = `${none.reason}; ${reason}`
        return new Unavailable(detail === undefined ? { reason: both } : { reason: both, detail })
      }),
      Effect.zipRight(find)
    )
  )
