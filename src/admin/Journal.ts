import { FileSystem } from "@effect/platform/FileSystem"
import { Effect, Option, Schema } from "effect"
import { Refused } from "./Refused.ts"

/** A small file beside a large one that says how far work with that is. */
export interface Journal<A> {
  readonly read: Effect.Effect<Option.Option<A>, Refused>
  /** Replaces what it says, whole. */
  readonly write: (state: A) => Effect.Effect<void, Refused>
  readonly remove: Effect.Effect<void, Refused>
}

/** The failure of a file, for people. */
export const orRefused = <A, R>(self: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.mapError(self, ({ message }) => new Refused({ message }))

/** Opens a file to write at its end, and cuts it to what a journal says that it has; gives how much that is: nothing where the file has less. */
export const openAt = Effect.fnUntraced(function* (path: string, known_bytes: number) {
  const fs = yield* FileSystem
  const size = (yield* fs.exists(path)) ? Number((yield* fs.stat(path)).size) : 0
  const bytes = size < known_bytes ? 0 : known_bytes
  const file = yield* fs.open(path, { flag: "a+" })
  yield* file.truncate(bytes)
  return { file, bytes }
}, orRefused)

/** A journal at a path. */
export const make = <A, I>(path: string, schema: Schema.Schema<A, I>) =>
  Effect.map(FileSystem, (fs): Journal<A> => {
    const json = Schema.parseJson(schema)
    return {
      read: Effect.gen(function* () {
        if (!(yield* fs.exists(path))) return Option.none()
        const state = yield* Schema.decode(json)(yield* fs.readFileString(path))
        return Option.some(state)
      }).pipe(
        Effect.mapError(
          () => new Refused({ message: `${path} cannot be read. Delete it to begin from the start.` })
        )
      ),
      write: (state) =>
        Schema.encode(json)(state).pipe(
          Effect.flatMap((text) => fs.writeFileString(`${path}.new`, text)),
          Effect.zipRight(fs.rename(`${path}.new`, path)),
          orRefused
        ),
      remove: orRefused(fs.remove(path, { force: true }))
    }
  })
