import { Command, Options } from "@effect/cli"
import { FileSystem } from "@effect/platform/FileSystem"
import { Console, Effect, Option, Schedule, Schema } from "effect"
import * as ProgressBar from "../terminal/Progress.ts"
import { type ExportFormat, exportedLine, headOf } from "../transfer/Exporting.ts"
import * as Journal from "./Journal.ts"
import { LinkApi } from "./LinkApi.ts"
import { Refused } from "./Refused.ts"

/** Tries of a page. */
const triesMax = 20

/** Where it is not known how many links there are, their number is told each time so many more have been written. */
const told = 10_000

/** What a journal says of an export. */
const State = Schema.Struct({
  options: Schema.String,
  cursor: Schema.NullOr(Schema.String),
  bytes: Schema.Number,
  count: Schema.Number
})

/** What is exported, and where to. */
export interface Export {
  readonly file: string
  readonly format: ExportFormat
  readonly owner: Option.Option<string>
}

/** Exports links. `pause`: how long it waits before it tries again. */
export const exportFile = Effect.fnUntraced(function* (
  { file, format, owner }: Export,
  pause: Effect.Effect<void>
) {
  const fs = yield* FileSystem
  const api = yield* LinkApi
  const part = `${file}.part`
  const journal = yield* Journal.make(`${file}.export.json`, State)
  const options = JSON.stringify({ format, owner: Option.getOrNull(owner) })
  const before = Option.filter(yield* journal.read, (state) => state.options === options)
  const out = yield* Journal.openAt(
    part,
    Option.match(before, { onNone: () => 0, onSome: (state) => state.bytes })
  )
  let { bytes } = out
  let { count, cursor } =
    Option.isSome(before) && bytes > 0 ? before.value : { count: 0, cursor: null as string | null }
  if (count > 0) yield* Console.log(`Going on behind ${count.toLocaleString("en")} links.`)
  const append = (text: string) => {
    const added = new TextEncoder().encode(text)
    bytes += added.length
    return added.length === 0 ? Effect.void : Journal.orRefused(out.file.writeAll(added))
  }
  if (bytes === 0) yield* append(headOf(format))

  let bar: ProgressBar.Progress | undefined
  let isOver = false
  while (!isOver) {
    const page = yield* api.list(cursor, Option.getOrUndefined(owner)).pipe(
      Effect.tapError(({ mayPass, message }) =>
        mayPass ? Effect.zipRight(Console.error(`${message} Trying again.`), pause) : Effect.void
      ),
      Effect.retry({ schedule: Schedule.recurs(triesMax - 1), while: ({ mayPass }) => mayPass }),
      Effect.mapError(({ message }) => new Refused({ message: `${message} Run the command again to go on.` }))
    )
    if (page.total?.isExact === true) {
      bar = yield* ProgressBar.make({ all: page.total.count, unit: "links" })
    }
    yield* append(page.data.map((link) => exportedLine(link, format)).join(""))
    const reached = count + page.data.length
    if (bar === undefined && Math.floor(reached / told) > Math.floor(count / told)) {
      yield* Console.error(`${reached.toLocaleString("en")} links`)
    }
    count = reached
    cursor = page.nextCursor
    isOver = cursor === null
    bar?.update(count)
    // The last page is not written down: what is over has no cursor, and would begin again.
    if (!isOver) yield* journal.write({ options, cursor, bytes, count })
  }
  yield* Journal.orRefused(fs.rename(part, file))
  yield* journal.remove
  yield* Console.log(`${count.toLocaleString("en")} ${count === 1 ? "link" : "links"} written to ${file}`)
}, Effect.scoped)

/** `export` */
export const exportLinks = Command.make(
  "export",
  {
    file: Options.text("file").pipe(Options.withDescription("Where to write; replaced when all is written")),
    format: Options.choice("format", ["jsonl", "csv"]).pipe(
      Options.withDefault("jsonl"),
      Options.withDescription("JSON lines, or a table for spreadsheets")
    ),
    owner: Options.text("owner").pipe(
      Options.optional,
      Options.withDescription("For administrators: the links of the user with this id alone")
    )
  },
  (options) => exportFile(options, Effect.sleep("5 seconds"))
).pipe(
  Command.withDescription(
    "Exports links, with all that they have but their passwords. Uses the HTTP API at BASE_URL, with the API key in API_KEY. A run that was cut off is gone on with by the next one"
  )
)
