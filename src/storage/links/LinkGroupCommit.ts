import type { Layer } from "effect"
import * as GroupCommit from "../sql/GroupCommit.ts"
import { GuardedCreates } from "./GuardedCreates.ts"
import { LinkStore } from "./LinkStore.ts"

/** How many statements of one kind a node has under way: one is right for SQLite, which has one writer; PostgreSQL commits several side by side. */
type Options = Pick<GroupCommit.GroupCommitOptions, "inFlightMax">

/** Group commit of changes for a node: its partitions share the statements. Links are bound together in any case (`LocalOwners`). A call has up to 1,000 rows. */
export const links = ({ inFlightMax }: Options): Layer.Layer<LinkStore, never, LinkStore> =>
  GroupCommit.layer(LinkStore, "LinkStore", ["deleteMany", "updateMany", "takeVisits"], {
    callsMax: 32,
    inFlightMax
  })

/** The same for guarded creates. A bulk makes calls of one row each. */
export const guardedCreates = ({
  inFlightMax
}: Options): Layer.Layer<GuardedCreates, never, GuardedCreates> =>
  GroupCommit.layer(
    GuardedCreates,
    "GuardedCreates",
    ["beginMany", "bindMany", "settleMany", "abandonMany"],
    {
      callsMax: 1_000,
      inFlightMax
    }
  )
