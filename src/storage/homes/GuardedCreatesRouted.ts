import { Duration, Effect, Either, Schedule } from "effect"
import * as Concurrent from "../../fibers/Concurrent.ts"
import { bucketOf, bucketOfName } from "../../keys/Buckets.ts"
import {
  type Guard,
  type GuardedCreates,
  type GuardedLink,
  type GuardedOutcome,
  type GuardState,
  guardTimes,
  type Settlement
} from "../links/GuardedCreates.ts"
import type { LinkStore } from "../links/LinkStore.ts"
import { confirmed, under } from "../links/buckets/LinkTenure.ts"
import { monotonic_ms } from "../../time/MonotonicTime.ts"
import { answersOf, outcomesOf, type StorageError } from "../StorageError.ts"
import { type LinkDatabase, type Router, waitMax_ms } from "./Router.ts"

/** A database, and the guards that it has. */
export interface HasGuards extends LinkDatabase {
  readonly guarded: typeof GuardedCreates.Service
}

/** How often it is tried again to settle a guard whose link is bound. */
const settlingAgain = Schedule.spaced("50 millis").pipe(Schedule.intersect(Schedule.recurs(2)))

/** Links of a batch that are asked about alone, at a time, because one transaction cannot decide what becomes of them. */
const aloneAtOnce = 16

/** The pause before databases are asked again for a link of a URL. */
const lookingAgain = Duration.millis(100)

const bucketOfGuard = ({ name }: { readonly name: string }): number => bucketOfName(name)

/** What stands for guards that are in other databases, in the one of the link: its answer is what they are to be settled with. */
const substituteOf = (guard: Guard, key: string): Guard => ({ ...guard, name: `${guard.name}@${key}` })

/** A substitute that has an answer: `null` where that is one to another create, whose guard was left alone, or forgotten by a failover. */
interface Settled {
  readonly answer: string | null
}

const settledOf = ({ fingerprint = "" }: Guard, state: GuardState | undefined): Settled | null => {
  if (state?._tag !== "Settled") return null
  const isOther = state.fingerprint !== "" && fingerprint !== "" && state.fingerprint !== fingerprint
  return { answer: isOther ? null : state.answer }
}

/**
 * `GuardedCreates` over several databases.
 *
 * A guard is in the database of its name's bucket. Where a link is bound in the same one, one transaction binds it and settles its guards. A link with a minted key is bound only where the first of its
 * guards is: a repeat of its create has another key, and would not meet what is there. It is `apart` where either has moved since the key was chosen. An alias, or a second guard, can be in another one:
 *
 * - If the first of the guards is where the link is, it decides, in the same transaction. The others are settled afterwards.
 * - Otherwise a substitute of it in the link's database decides, and all of them are settled afterwards. Where that cannot be done, or another try has taken the guard, the create has no answer
 *   (`superseded`), and whoever begins the guard again, after its lease or once it is given up, meets the substitute, which has it; also where the two have come into one database since.
 */
export const make = (
  router: Router<HasGuards>,
  { findMany }: Pick<typeof LinkStore.Service, "findMany">
): typeof GuardedCreates.Service => {
  const beginMany: (typeof GuardedCreates.Service)["beginMany"] = (beginnings) =>
    router.write(
      "GuardedCreates.beginMany",
      beginnings,
      bucketOfGuard,
      (some) =>
        ({ guarded, sql }, tenure) =>
          under(sql, "GuardedCreates.beginMany", tenure, guarded.beginMany(some))
    )

  const settleMany = (settlements: ReadonlyArray<Settlement>) =>
    router.write(
      "GuardedCreates.settleMany",
      settlements,
      bucketOfGuard,
      (some) =>
        ({ guarded, sql }, tenure) =>
          under(sql, "GuardedCreates.settleMany", tenure, guarded.settleMany(some))
    )

  /** Binds links whose guards are all in their databases; others are `apart`. */
  const bindTogether = (links: ReadonlyArray<GuardedLink>) =>
    router.write<GuardedLink, GuardedOutcome>(
      "GuardedCreates.bindMany",
      links,
      ({ link: { key } }) => bucketOf(key),
      (some) =>
        ({ guarded, sql }, tenure) =>
          under(sql, "GuardedCreates.bindMany", tenure, guarded.bindMany(some)),
      { bucketsOf: ({ guards }) => guards.map(bucketOfGuard), apart: "apart" }
    )

  const isNear = (guard: Guard, key: string) => {
    const { places } = router.placement.current()
    return places[bucketOfGuard(guard)]!.home === places[bucketOf(key)]!.home
  }

  /** Begins the substitute of a guard; gives the answer that it has, if it was settled already. */
  const beginSubstitute = (
    substitute: Guard,
    key: string,
    replaces?: string
  ): Effect.Effect<ReadonlyArray<Settled | null>, StorageError> =>
    router.write(
      "GuardedCreates.bindMany",
      [key],
      bucketOf,
      () =>
        ({ guarded, sql }, tenure) =>
          Effect.map(
            under(
              sql,
              "GuardedCreates.bindMany",
              tenure,
              guarded.beginMany([
                {
                  ...substitute,
                  ...guardTimes,
                  fingerprint: substitute.fingerprint ?? "",
                  ...(replaces !== undefined && { replaces })
                }
              ])
            ),
            ([state]) => [settledOf(substitute, state)]
          )
    )

  /** Leaves a substitute alone that was not settled. */
  const abandonSubstitute = (substitute: Guard, key: string) =>
    router.write(
      "GuardedCreates.abandonMany",
      [key],
      bucketOf,
      () =>
        ({ guarded, sql }, tenure) =>
          Effect.as(under(sql, "GuardedCreates.abandonMany", tenure, guarded.abandonMany([substitute])), [
            undefined
          ])
    )

  /**
   * Settles guards without their link's transaction; gives whether all have the answer. One that is not held any more may have it from a try before, whose own answer was lost. One that was given up
   * since is begun again, so that a repeat finds the answer at once. One that another create has taken is left to that.
   */
  const settleAll = (guards: ReadonlyArray<Guard>, key: string, answer: string) => {
    const settle = (some: ReadonlyArray<Guard>) =>
      settleMany(some.map((guard) => ({ ...guard, answer, key })))
    return Effect.gen(function* () {
      const settled = yield* settle(guards)
      const open = guards.filter((_, place) => settled[place] !== true)
      if (open.length === 0) return true
      const states = yield* beginMany(
        open.map((guard) => ({ ...guard, ...guardTimes, fingerprint: guard.fingerprint ?? "" }))
      )
      const begun = open.filter((_, place) => states[place]!._tag === "Begun")
      const others = states.filter(({ _tag }) => _tag !== "Begun")
      const again = begun.length === 0 ? [] : yield* settle(begun)
      return (
        again.every((isSettled) => isSettled) &&
        others.every((one) => one._tag === "Settled" && one.key === key && one.answer === answer)
      )
    }).pipe(
      Effect.retry(settlingAgain),
      Effect.orElseSucceed(() => false)
    )
  }

  /**
   * What becomes of a link of which a substitute has the answer of an earlier try, or of another create; `undefined` where the link of that is not there any more. One that has ended counts as little as
   * that of any settled guard.
   */
  const whenSettled = ({ guards, link: { key } }: GuardedLink, { answer }: Settled) =>
    Effect.gen(function* (): Effect.fn.Return<GuardedOutcome | undefined, StorageError> {
      const [row] = yield* findMany([key])
      if (row === null || row === undefined) return undefined
      if (row.deletedAt !== null || answer === null) return "taken"
      yield* settleAll(guards, key, answer)
      return "superseded"
    })

  /** Whose alias is taken: perhaps by an earlier try, which died before it had settled the guards, and left its answer with a substitute. */
  const whenTaken = (taken: GuardedLink) =>
    Effect.gen(function* (): Effect.fn.Return<GuardedOutcome, StorageError> {
      const { guards, link } = taken
      const substitute = substituteOf(guards[0]!, link.key)
      const [settled] = yield* beginSubstitute(substitute, link.key)
      if (settled) return (yield* whenSettled(taken, settled)) ?? "taken"
      yield* abandonSubstitute(substitute, link.key)
      return "taken"
    })

  const bindApart = (guarded: GuardedLink) =>
    Effect.gen(function* () {
      const { answer, guards, link } = guarded
      const [first] = guards
      const near = guards.filter((guard) => isNear(guard, link.key))
      const far = guards.filter((guard) => !isNear(guard, link.key))
      if (near.includes(first!)) {
        const [outcome] = yield* bindTogether([{ answer, link, guards: near }])
        if (outcome === "bound") yield* settleAll(far, link.key, answer)
        return outcome!
      }
      if (!link.custom) return "apart" satisfies GuardedOutcome
      const substitute = substituteOf(first!, link.key)
      const [settled] = yield* beginSubstitute(substitute, link.key)
      if (settled) {
        const known = yield* whenSettled(guarded, settled)
        if (known !== undefined) return known
        yield* beginSubstitute(substitute, link.key, link.key)
      }
      const [outcome] = yield* bindTogether([{ answer, link, guards: [...near, substitute] }])
      // A repeat meets the guard, not the substitute: there is no answer before that has it.
      return outcome === "bound" && !(yield* settleAll(far, link.key, answer)) ? "superseded" : outcome!
    })

  /** Whether it is to be looked at alone what becomes of a link that has an outcome. */
  const isOpen = (outcome: GuardedOutcome, { guards, link }: GuardedLink) =>
    outcome === "apart" || (outcome === "taken" && link.custom && guards.length > 0)

  /** What becomes of one for which that is so. */
  const goOn = (guarded: GuardedLink, first: GuardedOutcome) =>
    Effect.gen(function* () {
      const outcome = first === "apart" ? yield* bindApart(guarded) : first
      return outcome === "taken" && isOpen(outcome, guarded) ? yield* whenTaken(guarded) : outcome
    })

  return {
    beginMany,
    settleMany,
    bindMany: Effect.fnUntraced(function* (links) {
      const first = yield* outcomesOf(bindTogether(links))
      // What fails is that link alone: others of the batch may be bound by now.
      const outcomes = [...first]
      yield* Concurrent.forEach(
        first.flatMap((outcome, place) =>
          Either.isRight(outcome) && isOpen(outcome.right, links[place]!)
            ? [[place, outcome.right] as const]
            : []
        ),
        ([place, outcome]) =>
          Effect.map(Effect.either(goOn(links[place]!, outcome)), (one) => void (outcomes[place] = one)),
        aloneAtOnce
      )
      return yield* answersOf("GuardedCreates.bindMany", outcomes)
    }),
    abandonMany: (guards) =>
      router.write(
        "GuardedCreates.abandonMany",
        guards,
        bucketOfGuard,
        (some) =>
          ({ guarded, sql }, tenure) =>
            under(sql, "GuardedCreates.abandonMany", tenure, guarded.abandonMany(some))
      ),
    findByUrl: Effect.fnUntraced(function* (owner, url, now) {
      const start_ms = yield* monotonic_ms
      while (true) {
        const { answers, failures } = yield* router.gather(
          "GuardedCreates.findByUrl",
          ({ guarded, sql }, tenure) =>
            confirmed(sql, "GuardedCreates.findByUrl", tenure, guarded.findByUrl(owner, url, now))
        )
        const [newest] = answers
          .flatMap(({ answer }) => (answer === null ? [] : [answer]))
          .toSorted((one, other) => other.createdAt - one.createdAt || (one.key < other.key ? -1 : 1))
        if (newest !== undefined) return newest
        // One that is away is done without. One that is there, and whose answer is lost or late, may have a link: without it there would be a second one.
        const answered = new Set(answers.map(({ index }) => index))
        const isHeard = router.databases.every((database, at) => answered.has(at) || database.isAway())
        if (isHeard) return null
        if ((yield* monotonic_ms) - start_ms > waitMax_ms) return yield* failures[0]!
        yield* Effect.sleep(lookingAgain)
      }
    }),
    drop: (keep_ms, count) =>
      Effect.map(
        router.sweep("GuardedCreates.drop", ({ guarded, sql }, tenure) =>
          under(sql, "GuardedCreates.drop", tenure, guarded.drop(keep_ms, count))
        ),
        (dropped) => dropped.reduce((sum, count) => sum + count, 0)
      )
  }
}
