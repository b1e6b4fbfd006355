import { Effect, Layer } from "effect"
import { LinkPlaces } from "../homes/LinkPlaces.ts"
import * as GroupCommit from "../sql/GroupCommit.ts"
import { GuardedCreates } from "./GuardedCreates.ts"
import { LinkStore } from "./LinkStore.ts"

/** How many statements of one kind a node has under way: one is right for SQLite, which has one writer; PostgreSQL commits several side by side. */
type Options = Pick<GroupCommit.GroupCommitOptions, "inFlightMax">

/** What a question is about: a link, by its key, or a guard, by its name, or a link and its guards. */
interface About {
  readonly key?: string
  readonly name?: string
  readonly link?: { readonly key: string }
  readonly guards?: ReadonlyArray<{ readonly name: string }>
}

/**
 * A lane for each database that has links, and one for what waits for buckets that are being moved: also a link of which one of the guards is in such a bucket. Calls that have questions of several go
 * with those of the first.
 */
const laned = <A, E, R>(
  layer: (lanes: NonNullable<GroupCommit.GroupCommitOptions["lanes"]>) => Layer.Layer<A, E, R>
): Layer.Layer<A, E, R> =>
  Layer.unwrapEffect(
    Effect.map(LinkPlaces, ({ laneOf, laneOfName, lanes }) => {
      const of = (questions: ReadonlyArray<unknown>) => {
        const [first] = questions as ReadonlyArray<About>
        if (first?.name !== undefined) return laneOfName(first.name)
        const key = first?.key ?? first?.link?.key
        if (key === undefined) return 0
        const moving = lanes - 1
        return first?.guards?.some(({ name }) => laneOfName(name) === moving) ? moving : laneOf(key)
      }
      return layer({ count: lanes, of })
    })
  )

/** Group commit of changes for a node: its partitions share the statements. Links are bound together in any case (`LocalOwners`). A call has up to 1,000 rows. */
export const links = ({ inFlightMax }: Options): Layer.Layer<LinkStore, never, LinkStore> =>
  laned((lanes) =>
    GroupCommit.layer(LinkStore, "LinkStore", ["deleteMany", "updateMany", "takeVisits"], {
      callsMax: 32,
      inFlightMax,
      lanes
    })
  )

/** The same for guarded creates. A bulk makes calls of one row each. */
export const guardedCreates = ({
  inFlightMax
}: Options): Layer.Layer<GuardedCreates, never, GuardedCreates> =>
  laned((lanes) =>
    GroupCommit.layer(
      GuardedCreates,
      "GuardedCreates",
      ["beginMany", "bindMany", "settleMany", "abandonMany"],
      { callsMax: 1_000, inFlightMax, lanes }
    )
  )
