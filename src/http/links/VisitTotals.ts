import { Effect } from "effect"
import { VisitStore } from "../../storage/visits/VisitStore.ts"
import { type Link } from "../../model/Link.ts"
import { subjectOfLink, type VisitCount } from "../../model/Visit.ts"
import type { LinkBody } from "../contract/LinkSchemas.ts"
import * as Problem from "../exchange/Problem.ts"

/** All visits of a link ever, as clients see them. */
export type VisitTotals = (typeof LinkBody.Type)["visits"]

const totalsOf = ({ bots, isUnknown, nonBots }: VisitCount): VisitTotals => ({
  total: nonBots + bots,
  nonBots,
  bots,
  ...(isUnknown && { unavailable: true })
})

/** What a link has that nobody can have visited yet. */
export const none: VisitTotals = totalsOf({ nonBots: 0, bots: 0 })

/** What was counted of a link before it was imported. */
export const importedOf = ({ importedVisits }: Pick<Link, "importedVisits">): VisitTotals =>
  importedVisits === undefined ? none : totalsOf(importedVisits)

/** Asks for the visits of links, in one question; the answers come in their order. */
export const make: Effect.Effect<
  (links: ReadonlyArray<Link>) => Effect.Effect<ReadonlyArray<VisitTotals>, Problem.Problem>,
  never,
  VisitStore
> = Effect.map(
  VisitStore,
  ({ totals }) =>
    (links) =>
      links.length === 0
        ? Effect.succeed([])
        : Effect.map(Problem.orUnavailable(totals(links.map(subjectOfLink))), (counts) =>
            counts.map(totalsOf)
          )
)
