import { Array as Arr } from "effect"
import type { RunResult } from "../../Run.ts"
import { momentOf, sentenceOf } from "../Events.ts"
import { type Group, lane } from "./Lane.ts"
import { nodeLanes } from "./NodeLanes.ts"
import { ownerLanes } from "./OwnerLanes.ts"
import { poolLanes, spanOf } from "./PoolLanes.ts"
import { requestLanes } from "./RequestLanes.ts"

const faultLanes = ({ evidence: { healed_us, strikes } }: RunResult): Group => ({
  title: "Faults",
  about: "each kind that came, as long as it went on",
  lanes: Object.entries(Arr.groupBy(strikes, ({ name }) => name)).map(([name, some]) =>
    lane(name, {
      tip: `${name}: ${some.length} times`,
      height: 14,
      spans: some.map((one) => spanOf(one, healed_us))
    })
  )
})

const findingLanes = ({ evidence, violations }: RunResult): Group => ({
  title: "Findings",
  about: "what checkers found, and conflicts that the primary key caught",
  lanes: [
    lane("violations", {
      tip: `${violations.length} violations`,
      height: 18,
      marks: violations.map(({ at_us, checker, text }) => ({
        at_us,
        look: "found",
        tip: `${momentOf(at_us)}: ${checker}: ${text}`
      }))
    }),
    lane("conflicts caught", {
      marks: evidence.journal.flatMap((entry) =>
        entry.tag === "conflicted" && !entry.link.custom
          ? [
              {
                at_us: entry.at_us,
                look: "conflict",
                tip: `${momentOf(entry.at_us)}: ${entry.by}: ${sentenceOf(entry)}`
              }
            ]
          : []
      )
    })
  ]
})

/** Everything of a run that is drawn. */
export const groupsOf = (result: RunResult): ReadonlyArray<Group> =>
  [
    findingLanes(result),
    faultLanes(result),
    nodeLanes(result.evidence),
    requestLanes(result.evidence),
    poolLanes(result.evidence),
    ...ownerLanes(result)
  ].filter(({ lanes }) => lanes.length > 0)
