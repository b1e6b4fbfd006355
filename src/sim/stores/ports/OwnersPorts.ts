import { Clock, Effect } from "effect"
import type { OwnersGone, OwnersLinks } from "../../../storage/homes/LinkRemovalsRouted.ts"
import { lookedFor_ms } from "../../../storage/links/LinkRemovals.ts"
import { linkRow } from "../database/RowNames.ts"
import { query, statement } from "../database/Transactions.ts"
import type { DatabaseCopy } from "../DatabaseCopy.ts"
import { atHome, barred, isPassedOver } from "../homes/BucketHome.ts"
import { end, firstAsked, leftOf } from "../LinkRemovalsMemory.ts"
import type { Call } from "./Call.ts"

/** How long links of owners who are gone are looked for, instead of `lookedFor_ms`: runs would end before that. Longer than a create takes, and a node is paused meanwhile. */
export const lookedForHere_ms = lookedFor_ms / 30

/** The links of owners in one of several databases, as a process reaches them. Rows that another transaction has locked are passed over by SQL; here they are waited for. */
export const links = (call: Call, by: string, { tables }: DatabaseCopy): OwnersLinks => ({
  having: (owners) =>
    call("LinkRemovals.having", query, ({ tables: { home, rows } }) =>
      Effect.sync(() => {
        const here = atHome(home, rows)
        return owners.filter((owner) => leftOf(here, owner).length > 0)
      })
    ),
  end: (owner, count) =>
    call(
      "LinkRemovals.end",
      statement(() => leftOf(tables.rows, owner).map(({ key }) => linkRow(key))),
      ({ announce, journal, tables: { ended, home, rows } }) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const some = leftOf(atHome(home, rows), owner).slice(0, count)
          if (some.some(({ key }) => isPassedOver(home, key))) return barred("LinkRemovals.end")
          const keys = end({ ended, links: rows }, some, now)
          for (const key of keys) journal.add({ tag: "deleted", by, key })
          announce(new Set(keys))
          return Effect.succeed(keys)
        })
    ),
  unindex: () => call("LinkRemovals.unindex", statement(), () => Effect.void)
})

/** Owners whose links are to be deleted, as a process reaches them in the control database. */
export const gone = (call: Call): OwnersGone => ({
  first: (count) =>
    call("LinkRemovals.first", query, ({ tables: { ownersGone } }) =>
      Effect.map(Clock.currentTimeMillis, (now) =>
        firstAsked(ownersGone)
          .slice(0, count)
          .map(([owner, at]) => ({ owner, isOver: at <= now - lookedForHere_ms }))
      )
    ),
  forget: (owners) =>
    call("LinkRemovals.forget", statement(), ({ tables: { ownersGone } }) =>
      Effect.sync(() => owners.forEach((owner) => ownersGone.delete(owner)))
    )
})
