import { Command, Options } from "@effect/cli"
import { FileSystem } from "@effect/platform/FileSystem"
import { createHash } from "node:crypto"
import { Console, Effect, Option, Runtime, Schema, Stream } from "effect"
import * as ProgressBar from "../terminal/Progress.ts"
import { csvLine } from "../transfer/Csv.ts"
import * as Importing from "../transfer/Importing.ts"
import { type FileOptions, read } from "../transfer/Reading.ts"
import { type SourceName, sourceNames, titleOf } from "../transfer/Sources.ts"
import { Unreadable } from "../transfer/Unreadable.ts"
import { textOf } from "../transfer/Utf8.ts"
import * as Journal from "./Journal.ts"
import { LinkApi, NotAnswered } from "./LinkApi.ts"
import { Refused } from "./Refused.ts"

/** Links in a request: few enough that it is answered soon, whatever they need. */
const atOnce = 200

/** What a journal says of an import. */
const State = Schema.Struct({
  /** The SHA-256 of the file, and what else must be the same in the next run. */
  file: Schema.String,
  options: Schema.String,
  /** Bytes of the rejects file that belong to `progress`. */
  rejects_bytes: Schema.Number,
  isOver: Schema.Boolean,
  progress: Schema.Struct({
    settled: Schema.Number,
    made: Schema.Number,
    present: Schema.Number,
    rejected: Schema.Number,
    base_ms: Schema.Number
  })
})

/** What is imported, and how. */
export interface Import {
  readonly file: string
  readonly source: SourceName
  readonly keepsKeys: boolean
  readonly cutsTitles: boolean
  /** What each link gets beside its own tags. */
  readonly tags: ReadonlyArray<string>
  /** Whether the file is only read. */
  readonly isCheck: boolean
}

const counted = (count: number, what: string) =>
  `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`

const unreadable = (error: unknown) =>
  new Refused({
    message: error instanceof Unreadable ? `${error.message}. Nothing was imported.` : String(error)
  })

/** Imports a file. `pause`: how long it waits before it tries again. */
export const importFile = Effect.fnUntraced(function* (
  { cutsTitles, file, isCheck, keepsKeys, source, tags }: Import,
  pause: Effect.Effect<void>
) {
  const fs = yield* FileSystem
  const api = yield* LinkApi
  const runtime = yield* Effect.runtime()
  const options: FileOptions = { cutsTitles, keepsKeys, source, ...(tags.length > 0 && { tags }) }
  const rejectsPath = `${file}.rejects.csv`
  const entriesOf = (onBytes: (bytes: Uint8Array) => void = () => {}) =>
    read(
      textOf(
        Stream.toAsyncIterable(Stream.tap(fs.stream(file), (bytes) => Effect.sync(() => onBytes(bytes))))
      ),
      options
    )

  // The whole file is read before anything is made, so that one that cannot be read makes nothing.
  const hash = createHash("sha256")
  const found = yield* Effect.tryPromise({
    try: async () => {
      let [all, faulty] = [0, 0]
      const first: Array<Importing.Rejected> = []
      for await (const entry of entriesOf((bytes) => void hash.update(bytes))) {
        all++
        if (entry.faults.length > 0 && ++faulty <= 10) first.push(Importing.unreadOf(entry))
      }
      return { all, faulty, first }
    },
    catch: unreadable
  })
  yield* Console.log(
    `${file} (${titleOf(source)}): ${counted(found.all, "line")}, ${found.faulty.toLocaleString("en")} of them with faults`
  )
  if (isCheck) {
    for (const { field, line, reason } of found.first) yield* Console.log(`line ${line}: ${field} ${reason}`)
    return
  }

  const journal = yield* Journal.make(`${file}.import.json`, State)
  const known = { file: hash.digest("hex"), options: JSON.stringify(options) }
  const before = yield* journal.read
  if (Option.isSome(before)) {
    const { file: knownFile, isOver, options: knownOptions, progress } = before.value
    if (knownFile !== known.file || knownOptions !== known.options) {
      return yield* new Refused({
        message: `${file}.import.json is of another file, or of other options. Delete it to begin from the start: links that were made in the last 24 hours are not made twice.`
      })
    }
    if (isOver) {
      return yield* Console.log(
        `It was imported already: ${counted(progress.made, "link")} made. Delete ${file}.import.json to import it again.`
      )
    }
    yield* Console.log(`Going on behind ${counted(progress.settled, "line")}.`)
  }
  const start: Importing.Progress = Option.isSome(before)
    ? before.value.progress
    : { settled: 0, made: 0, present: 0, rejected: 0, base_ms: yield* api.now_ms }

  const rejects = yield* Journal.openAt(rejectsPath, Option.isSome(before) ? before.value.rejects_bytes : 0)
  let rejects_bytes = rejects.bytes
  const append = (text: string) => {
    const bytes = new TextEncoder().encode(text)
    rejects_bytes += bytes.length
    return bytes.length === 0 ? Effect.void : Journal.orRefused(rejects.file.writeAll(bytes))
  }
  if (rejects_bytes === 0) yield* append(csvLine(Importing.rejectedColumns))
  yield* journal.write({ ...known, rejects_bytes, isOver: false, progress: start })

  const bar = yield* ProgressBar.make({ all: found.all, unit: "links" })
  bar.update(start.settled)
  const promised = Runtime.runPromise(runtime)
  const ended = yield* Effect.tryPromise({
    try: (signal) =>
      Importing.run(entriesOf(), start, {
        atOnce,
        ports: {
          send: (links, key) => promised(Effect.either(api.create(links, key))).then(orThrow),
          urlOf: (key, domain) => promised(Effect.either(api.urlOf(key, domain))).then(orThrow),
          pause: (why) => {
            bar.log(
              why === "away"
                ? "The service does not answer, or not yet. Trying again."
                : "The quota is used up for now, or some links could not be made yet. Trying again."
            )
            return promised(pause)
          },
          mayPass: (error) => error instanceof NotAnswered && error.mayPass,
          onSettled: (progress, rejected) =>
            promised(
              append(rejected.map((one) => csvLine(Importing.rejectedCells(one))).join("")).pipe(
                Effect.zipRight(journal.write({ ...known, rejects_bytes, isOver: false, progress })),
                Effect.tap(() => Effect.sync(() => bar.update(progress.settled)))
              )
            ),
          isStopped: () => signal.aborted
        }
      }),
    catch: (error) =>
      error instanceof NotAnswered || error instanceof Refused || error instanceof Importing.NotYetMade
        ? new Refused({ message: `${error.message} Run the command again to go on.` })
        : unreadable(error)
  })
  yield* journal.write({ ...known, rejects_bytes, isOver: true, progress: ended })
  yield* Console.log(
    [
      counted(ended.made, "link") + " made",
      ...(ended.present > 0 ? [`${ended.present.toLocaleString("en")} were here already`] : []),
      ...(ended.rejected > 0
        ? [`${ended.rejected.toLocaleString("en")} not made: ${rejectsPath} says why`]
        : [])
    ].join(", ") + "."
  )
  if (ended.rejected === 0) yield* Journal.orRefused(fs.remove(rejectsPath, { force: true }))
}, Effect.scoped)

/** The error itself, which a promise of an effect would wrap. */
const orThrow = <A>(
  answer: { readonly _tag: "Right"; readonly right: A } | { readonly _tag: "Left"; readonly left: unknown }
): A => {
  if (answer._tag === "Left") throw answer.left
  return answer.right
}

/** `import` */
export const importLinks = Command.make(
  "import",
  {
    file: Options.text("file").pipe(Options.withDescription("What to import: CSV, JSON lines, JSON or SQL")),
    source: Options.choice("from", sourceNames).pipe(Options.withDescription("Whose file it is")),
    newKeys: Options.boolean("new-keys").pipe(
      Options.withDescription("Mints new keys, instead of keeping those of the file")
    ),
    cutsTitles: Options.boolean("cut-titles").pipe(
      Options.withDescription("Cuts titles of more than 256 characters, instead of rejecting their links")
    ),
    tags: Options.text("tag").pipe(
      Options.withDescription("A tag for each link, beside its own. May be repeated"),
      Options.repeated
    ),
    isCheck: Options.boolean("check").pipe(
      Options.withDescription("Only reads the file, and names its faults")
    )
  },
  ({ newKeys, ...others }) => importFile({ ...others, keepsKeys: !newKeys }, Effect.sleep("5 seconds"))
).pipe(
  Command.withDescription(
    "Imports links from a file of Linkmint or another service. Uses the HTTP API at BASE_URL, with the API key in API_KEY. A run that was cut off is gone on with by the next one"
  )
)
