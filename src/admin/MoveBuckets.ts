import { Command, Options } from "@effect/cli"
import { Console, Context, Duration, Effect, Either, Exit, Option, Scope } from "effect"
import type { Move } from "../storage/links/buckets/BucketPlacement.ts"
import * as BucketMover from "../storage/links/moves/BucketMover.ts"
import type { ConnectionOptions } from "../storage/sql/postgres/PrimaryPool.ts"
import { asStorageError } from "../storage/sql/SqlTransaction.ts"
import * as Progress from "../terminal/Progress.ts"
import { chosen, even, parseBuckets } from "./MovePlan.ts"
import { Refused } from "./Refused.ts"

/** The connections of the mover to one database: for its lock, for that of the upkeep, and for what it does at once. No statement has a bound, since a copy may take hours. */
export const connections: ConnectionOptions = {
  applicationName: "linkmint-move",
  maxConnections: 6,
  connectTimeout: Duration.seconds(10),
  answerTimeout: Duration.zero,
  idleTimeout: Duration.minutes(1),
  bounds: { idleInTransaction_ms: 30_000 }
}

/** The databases of links, by number. */
export class LinkDatabases extends Context.Tag("linkmint/admin/LinkDatabases")<
  LinkDatabases,
  ReadonlyMap<number, BucketMover.MovedDatabase>
>() {}

const options = {
  to: Options.integer("to").pipe(
    Options.optional,
    Options.withDescription(
      "The database that gets them, by number: 0 is DATABASE_URL, 1 the first of LINK_DATABASE_URLS"
    )
  ),
  from: Options.integer("from").pipe(
    Options.optional,
    Options.withDescription("Takes them from this database alone")
  ),
  buckets: Options.text("buckets").pipe(
    Options.optional,
    Options.withDescription("Which ones, such as 0-31,40")
  ),
  count: Options.integer("count").pipe(
    Options.optional,
    Options.withDescription(
      "How many; without it and --buckets, so many that the database has its even share"
    )
  ),
  even: Options.boolean("even").pipe(Options.withDescription("Gives all databases as many")),
  abort: Options.boolean("abort").pipe(
    Options.withDescription("Undoes the move that is not finished, unless its buckets are fenced already")
  ),
  json: Options.boolean("json").pipe(Options.withDescription("Prints what was moved, or undone, in JSON"))
}

const titles = {
  copy: "Copying",
  compare: "Comparing",
  verify: "Comparing what is left",
  delete: "Deleting what is left",
  abort: "Deleting what was copied"
}

/** Shows the progress of one step after the other, until the scope closes. */
const shown = Effect.gen(function* () {
  const outer = yield* Effect.scope
  let current:
    | { readonly step: string; readonly scope: Scope.CloseableScope; readonly bar: Progress.Progress }
    | undefined
  const watcher: BucketMover.Watcher = {
    at: () => Effect.void,
    progress: (step, rows, all) =>
      Effect.gen(function* () {
        if (current?.step !== step) {
          if (current !== undefined) yield* Scope.close(current.scope, Exit.void)
          const scope = yield* Scope.fork(outer, outer.strategy)
          const bar = yield* Scope.extend(Progress.make({ all, unit: "rows" }), scope)
          if (step in titles) bar.log(titles[step as keyof typeof titles])
          current = { step, scope, bar }
        }
        current.bar.update(rows)
      })
  }
  return watcher
})

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`

const sentence = ({ buckets, deleted, from, to, unwritten_ms }: BucketMover.Moved) =>
  `Moved ${counted(buckets.length, "bucket")} (${counted(deleted, "row")}) from database ${from} to ${to}` +
  (unwritten_ms === null ? "." : `; they were not written for ${Math.ceil(unwritten_ms)} ms.`)

/** `move-buckets` */
export const moveBuckets = Command.make(
  "move-buckets",
  options,
  Effect.fn(
    function* ({ abort, json, ...given }) {
      const databases = yield* LinkDatabases
      const { even: isEven, to } = given
      const [from, count] = [Option.getOrUndefined(given.from), Option.getOrUndefined(given.count)]
      if ([abort, isEven, Option.isSome(to)].filter(Boolean).length !== 1) {
        return yield* new Refused({ message: "Give one of --to, --even and --abort." })
      }
      const unused = (["from", "buckets", "count"] as const).filter((name) => given[name]._tag === "Some")
      if (Option.isNone(to) && unused.length > 0) {
        return yield* new Refused({ message: `--${unused[0]} can be given with --to alone.` })
      }
      const buckets = yield* Option.match(given.buckets, {
        onNone: () => Effect.succeed(undefined),
        onSome: (text) => Either.mapLeft(parseBuckets(text), (message) => new Refused({ message }))
      })
      const mover = yield* BucketMover.make(databases, yield* shown)
      if (abort) {
        const undone = yield* mover.abort
        if (json) return yield* Console.log(JSON.stringify({ undone: undone ?? null }, null, 2))
        return yield* Console.log(
          undone === undefined
            ? "There is no move that is not finished."
            : `Undid the move of ${counted(undone.buckets.length, "bucket")} from database ${undone.from} to ${undone.to}.`
        )
      }
      const done: Array<BucketMover.Moved> = []
      const tell = (moved: BucketMover.Moved) => {
        done.push(moved)
        return json ? Effect.void : Console.log(sentence(moved))
      }
      const resumed = yield* mover.resume
      if (resumed !== undefined) yield* tell(resumed)
      // The same command again finishes a move that was cut off, and does not move as many once more.
      const isRepeat = resumed !== undefined && !isEven && buckets === undefined
      const { places } = yield* mover.placement
      const moves: Either.Either<ReadonlyArray<Move>, string> = isRepeat
        ? Either.right([])
        : Option.match(to, {
            onNone: () => Either.right(even(places, databases.size)),
            onSome: (home) => chosen({ to: home, from, buckets, count }, places, databases.size)
          })
      for (const move of yield* Either.mapLeft(moves, (message) => new Refused({ message }))) {
        yield* Effect.flatMap(mover.move(move), tell)
      }
      if (json) return yield* Console.log(JSON.stringify({ moves: done }, null, 2))
      if (done.length === 0) yield* Console.log("No bucket has to be moved.")
      if (isRepeat)
        yield* Console.log("That was the move of an earlier run. Run the command again to move more.")
    },
    asStorageError("move-buckets"),
    Effect.scoped
  )
).pipe(
  Command.withDescription(
    "Moves buckets of links from one database to another while nodes run, or goes on with that"
  )
)
