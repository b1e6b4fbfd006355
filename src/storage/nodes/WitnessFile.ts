import { Effect, Schema } from "effect"
import { mkdir, open, readFile, rename } from "node:fs/promises"
import { dirname } from "node:path"
import * as FairSemaphore from "../../fibers/FairSemaphore.ts"
import { StorageError } from "../StorageError.ts"
import { later, nothing, type Testimony, Witness } from "./Witness.ts"

/** The file's text. */
const Content = Schema.parseJson(
  Schema.Struct({
    deployment: Schema.String,
    system: Schema.NullOr(Schema.String),
    timeline: Schema.Number,
    mark: Schema.Number,
    watermarks: Schema.Array(
      Schema.Struct({ length: Schema.Number, range: Schema.Number, next: Schema.Number })
    )
  })
)

const isMissing = (error: unknown) =>
  typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT"

/** Replaces the file atomically, also if the machine crashes. */
const replace = async (path: string, text: string) => {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.new`
  const file = await open(draft, "w", 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  const folder = await open(dirname(path), "r")
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/**
 * `Witness` in a file that only its user can read, for a process that does not share its database. A file of another deployment counts as empty, and is
 * overwritten.
 */
export const make = (path: string, deployment: string): Effect.Effect<typeof Witness.Service> =>
  Effect.sync(() => {
    const oneByOne = FairSemaphore.make(1)

    const attempt = <A>(operation: string, promise: () => Promise<A>) =>
      Effect.tryPromise({
        try: promise,
        catch: (error) =>
          new StorageError({
            operation,
            applied: "unknown",
            reason: `${path}: ${error instanceof Error ? error.message : String(error)}`
          })
      })

    const read = Effect.gen(function* () {
      const text = yield* attempt("Witness.read", () =>
        readFile(path, "utf8").catch((error: unknown) => {
          if (isMissing(error)) return undefined
          throw error
        })
      )
      if (text === undefined) return nothing
      const {
        deployment: other,
        system,
        ...numbers
      } = yield* Effect.mapError(
        Schema.decode(Content)(text),
        () =>
          new StorageError({ operation: "Witness.read", applied: "no", reason: `${path} is not readable` })
      )
      return other === deployment ? { ...numbers, system: system ?? undefined } : nothing
    })

    const write = (operation: string, change: (known: Testimony) => Testimony) =>
      oneByOne(
        Effect.gen(function* () {
          const known = yield* read
          const { system = null, ...numbers } = change(known)
          const text = yield* Effect.orDie(Schema.encode(Content)({ deployment, system, ...numbers }))
          yield* attempt(operation, () => replace(path, `${text}\n`))
        })
      )

    return Witness.of({
      read,
      raise: (seen) => write("Witness.raise", (known) => later(known, seen)),
      adopt: (database) => write("Witness.adopt", (known) => ({ ...known, ...database }))
    })
  })
