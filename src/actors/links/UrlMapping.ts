import { Entity } from "@effect/cluster"
import { Rpc } from "@effect/rpc"
import { Hash, Schema } from "effect"
import { Link, LinkChange, LinkCondition } from "../../model/Link.ts"
import { Take, Taken } from "../../storage/visits/VisitTakes.ts"
import { GuardedLink } from "../../storage/links/GuardedCreates.ts"
import { Unavailable } from "../Unavailable.ts"

/**
 * Partitions of the links, each owned by one actor. Fixed: every node must send a key to the same one.
 */
export const partitionCount = 32

/** Questions in one message at most. */
export const batchMax = 1_000

/** The partition of a key, as the entity id of its `UrlMapping` actor. */
export const partitionOf = (key: string): number => (Hash.string(key) >>> 0) % partitionCount

/**
 * What became of a create: the key is bound to the link now, or it was bound before, as another caller's alias or by a key
 * that came out of the pools twice. `taken`: the store did not say which of the two.
 */
export const CreateOutcome = Schema.Literal("bound", "taken-by-alias", "taken-by-key", "taken")
/** See {@link CreateOutcome}. */
export type CreateOutcome = typeof CreateOutcome.Type

/**
 * What became of a guarded create: also, that somebody else holds a guard of it, or has settled it, or that nothing was done as guard and key are `apart` by now.
 */
export const GuardedOutcome = Schema.Literal(...CreateOutcome.literals, "superseded", "apart")
/** See {@link GuardedOutcome}. */
export type GuardedOutcome = typeof GuardedOutcome.Type

/**
 * A payload that only its receiver checks. What has fields is checked by its sender as well, which for a thousand links of our own making takes as long as to
 * bind a hundred.
 */
const unchecked = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.typeSchema(Schema.Struct(fields))

/**
 * The keeper of one partition of the links: every change and delete of its keys, and every visit of links that have only so many, goes through it. Answers come in the order
 * of the questions. Creates and reads do not: nodes do them at the store themselves (`LocalOwners`, `RedirectCache`), and only those of the version before send messages for them.
 *
 * `CreateMany` binds links, each alone; `CreateGuarded` those that are bound only while their guards are held. `ResolveMany` gives rows, tombstones included, `null` for unknown keys;
 * of no keys, it asks whether the owner is there. `Delete` makes a tombstone, and answers
 * whether this call did. `Update` changes a link and gives it as it is then, `null` where there is none of that owner that is not deleted.
 * Both can have a condition (`onlyIf`): where the link does not meet it, nothing is done, and the answer is as where there is none. An owner of the version before
 * does not know it. Writes have ids: a message that comes twice is answered like the first time.
 */
export const UrlMapping = Entity.make("UrlMapping", [
  Rpc.make("CreateMany", {
    payload: unchecked({ links: Schema.Array(Link).pipe(Schema.maxItems(batchMax)) }),
    success: Schema.Array(CreateOutcome),
    error: Unavailable
  }),
  Rpc.make("CreateGuarded", {
    payload: unchecked({ links: Schema.Array(GuardedLink).pipe(Schema.maxItems(batchMax)) }),
    success: Schema.Array(GuardedOutcome),
    error: Unavailable
  }),
  Rpc.make("ResolveMany", {
    payload: unchecked({ keys: Schema.Array(Schema.String).pipe(Schema.maxItems(batchMax)) }),
    success: Schema.Array(Schema.NullOr(Link)),
    error: Unavailable
  }),
  Rpc.make("Visit", {
    payload: unchecked({ takes: Schema.Array(Take).pipe(Schema.maxItems(batchMax)) }),
    success: Schema.Array(Taken),
    error: Unavailable
  }),
  Rpc.make("Delete", {
    payload: Schema.Struct({
      key: Schema.String,
      at: Schema.Number,
      deleteId: Schema.optionalWith(Schema.Number, { exact: true }),
      owner: Schema.optionalWith(Schema.NullOr(Schema.String), { exact: true }),
      onlyIf: Schema.optionalWith(LinkCondition, { exact: true })
    }),
    success: Schema.Boolean,
    error: Unavailable
  }),
  Rpc.make("Update", {
    payload: Schema.Struct({
      key: Schema.String,
      owner: Schema.NullOr(Schema.String),
      at: Schema.Number,
      change: LinkChange,
      updateId: Schema.Number,
      onlyIf: Schema.optionalWith(LinkCondition, { exact: true })
    }),
    success: Schema.NullOr(Link),
    error: Unavailable
  })
])
