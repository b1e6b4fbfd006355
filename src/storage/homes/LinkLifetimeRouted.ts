import { bucketOf } from "../../keys/Buckets.ts"
import { Effect } from "effect"
import type { FreedLink, LinkLifetime } from "../links/LinkLifetime.ts"
import { under } from "../links/buckets/LinkTenure.ts"
import type { LinkDatabase, Router } from "./Router.ts"

/** A database, and how its links end. */
export interface HasLifetime extends LinkDatabase {
  readonly lifetime: typeof LinkLifetime.Service
}

/** `LinkLifetime` over several databases. `expireSome`, `recycle` and `toForget` take up to their count from each. A minted key that is free again enters the stock of its database. */
export const make = (router: Router<HasLifetime>): typeof LinkLifetime.Service => ({
  expire: (keys) => {
    const each = [...new Set(keys)]
    return Effect.map(
      router.write(
        "LinkLifetime.expire",
        each,
        bucketOf,
        (some) =>
          ({ lifetime, sql }, tenure) =>
            Effect.map(under(sql, "LinkLifetime.expire", tenure, lifetime.expire(some)), (ended) =>
              some.map((key) => ended.includes(key))
            )
      ),
      (ended) => each.filter((_, place) => ended[place] === true)
    )
  },
  expireSome: (count) =>
    Effect.map(
      router.sweep("LinkLifetime.expireSome", ({ lifetime, sql }, tenure) =>
        under(sql, "LinkLifetime.expireSome", tenure, lifetime.expireSome(count))
      ),
      (ended) => ended.flat()
    ),
  recycle: (recycling) =>
    Effect.map(
      router.sweep("LinkLifetime.recycle", ({ lifetime, sql }, tenure) =>
        under(sql, "LinkLifetime.recycle", tenure, lifetime.recycle(recycling))
      ),
      (freed): ReadonlyArray<FreedLink> => freed.flat()
    ),
  toForget: (count) =>
    Effect.map(
      router.sweep("LinkLifetime.toForget", ({ lifetime }) => lifetime.toForget(count)),
      (subjects) => subjects.flat()
    ),
  // A bucket may have moved since its links were freed: any of them can remember it.
  forgotten: (subjects) =>
    Effect.asVoid(router.sweep("LinkLifetime.forgotten", ({ lifetime }) => lifetime.forgotten(subjects)))
})
