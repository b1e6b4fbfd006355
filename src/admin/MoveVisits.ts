import { Command } from "@effect/cli"
import { Console, Context, Effect, Scope } from "effect"
import * as VisitStoreSpread from "../storage/homes/VisitStoreSpread.ts"
import * as BucketMoveLog from "../storage/links/moves/BucketMoveLog.ts"
import * as MoverLock from "../storage/links/moves/MoverLock.ts"
import { asStorageError } from "../storage/sql/SqlTransaction.ts"
import * as VisitMover from "../storage/visits/VisitMover.ts"
import * as Progress from "../terminal/Progress.ts"
import { Refused } from "./Refused.ts"

/** The databases of links, by number, and those of visits, in their order. */
export class VisitDatabases extends Context.Tag("linkmint/admin/VisitDatabases")<
  VisitDatabases,
  Pick<VisitMover.VisitMove, "sources" | "targets">
>() {}

/** `move-visits` */
export const moveVisits = Command.make(
  "move-visits",
  {},
  Effect.fn(
    function* () {
      const { sources, targets } = yield* VisitDatabases
      // Rows of a move of buckets are in two databases until it is over.
      const [control, ...further] = sources
      const lock = yield* MoverLock.hold(control!, further)
      const log = BucketMoveLog.make(lock.control)
      if ((yield* log.unfinished) !== undefined) {
        return yield* new Refused({
          message:
            "A move of buckets is not finished. Finish it (npm run admin -- move-buckets …) or undo it (--abort) first."
        })
      }
      const scope = yield* Effect.scope
      let bar: Progress.Progress | undefined
      const rows = yield* lock.holding(
        sources.map(({ number }) => number),
        VisitMover.move(
          { sources, targets, placeOf: (subject) => VisitStoreSpread.placeOf(subject, targets.length) },
          {
            at: () => Effect.void,
            progress: (done, all) =>
              Effect.gen(function* () {
                bar ??= yield* Scope.extend(Progress.make({ all, unit: "rows" }), scope)
                bar.update(done)
              })
          }
        )
      )
      yield* Console.log(
        rows === 0
          ? "No visits are in databases of links."
          : `Moved ${rows} rows of visits to ${targets.length === 1 ? "1 database" : `${targets.length} databases`}.`
      )
    },
    asStorageError("move-visits"),
    Effect.scoped
  )
).pipe(
  Command.withDescription(
    "Moves visits that are in databases of links to those of VISIT_DATABASE_URLS, while nodes run, or goes on with that"
  )
)
