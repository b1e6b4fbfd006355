import { Cause, Context, Effect, Either, Exit, Fiber, Layer, Option, type Scope, type Tracer } from "effect"
import * as Batcher from "../../fibers/Batcher.ts"
import * as Direct from "../../fibers/Direct.ts"
import * as Parallel from "../../fibers/Parallel.ts"
import type { Link } from "../../model/Link.ts"
import { GuardedCreates, type GuardedLink } from "../../storage/links/GuardedCreates.ts"
import { lanePace, LinkPlaces } from "../../storage/homes/LinkPlaces.ts"
import { LinkStore } from "../../storage/links/LinkStore.ts"
import { type Outcomes, PartlyFailed, type StorageError } from "../../storage/StorageError.ts"
import { fromFailure, Unavailable } from "../Unavailable.ts"
import type * as LinkCache from "./LinkCache.ts"
import { LinkReader } from "./LinkReader.ts"
import { batchMax, type CreateOutcome, type GuardedOutcome, partitionOf } from "./UrlMapping.ts"

/** The cache of an owner on this node, by which it is asked for links and learns of those that are bound. */
type Owner = Pick<LinkCache.LinkCache<Unavailable>, "getThen" | "beginWrite">

/** What became of a link that was to be bound. */
export type BindOutcome = Exit.Exit<CreateOutcome, Unavailable>

/**
 * Binds links, each alone: calls `answer` once with what became of each, in their order; it must not throw, and is called at once where too many links wait. `span`: that of who asks, where requests
 * are traced.
 */
export type BindThen = (
  links: ReadonlyArray<Link>,
  answer: (outcomes: ReadonlyArray<BindOutcome>) => void,
  span?: Tracer.AnySpan
) => void

/** Binds links as an effect. Being interrupted stops the waiting, not what was asked for. */
export const bind = (
  bindThen: BindThen,
  links: ReadonlyArray<Link>
): Effect.Effect<ReadonlyArray<BindOutcome>> =>
  Effect.withFiberRuntime((fiber) =>
    Effect.async((resume) =>
      bindThen(links, (outcomes) => resume(Effect.succeed(outcomes)), fiber.currentSpan)
    )
  )

/**
 * Binds the links that this node creates, and knows the owners of partitions that live in this process: their caches are asked for links without a message, and keep those
 * that are bound here. An actor that is about to go, because its shard has moved, is asked as long as it lives: the store decides, not the owner.
 */
export class LocalOwners extends Context.Tag("linkmint/LocalOwners")<
  LocalOwners,
  {
    /** The owner of a partition, if it lives here. */
    readonly of: (partition: number) => Owner | undefined
    /** Makes an owner known for as long as its scope is open. */
    readonly add: (partition: number, owner: Owner) => Effect.Effect<void, never, Scope.Scope>
    /** Binds links, together with all others that this node binds at the time, for whichever partition. At most `batchMax` at a time. */
    readonly bindThen: BindThen
    /** Binds links that are guarded, each alone: what became of them, in their order. At most `batchMax` at a time. Being interrupted stops the waiting, not the binding. */
    readonly bindGuarded: (
      links: ReadonlyArray<GuardedLink>
    ) => Effect.Effect<ReadonlyArray<GuardedOutcome>, Unavailable>
  }
>() {}

/** Whether a link was bound, or why that is not so. */
type Done = boolean | Unavailable

/** Links of a call that owners' caches keep: of a larger one they keep none, since they would lose for it what is visited. */
const keptMax = 100

/** Links that wait to be bound at most; more are refused at once. */
const waitingMax = 32_000

const bound: BindOutcome = Exit.succeed("bound")

const tooMany: BindOutcome = Exit.fail(
  new Unavailable({ reason: "too many links wait to be bound", applied: "no" })
)

/** Whether it is this node that has refused a link, and not its store. */
export const isTooMany = (outcome: BindOutcome): boolean => outcome === tooMany

/** The node stopped while the link was being bound: another one may bind it. */
const stopped = new Unavailable({ reason: "the node stops", applied: "unknown", away: true })

/** See {@link LocalOwners}. `inFlightMax`: statements that bind links, and are under way, at most. */
export const make = (
  inFlightMax: number
): Effect.Effect<typeof LocalOwners.Service, never, GuardedCreates | LinkReader | LinkStore | Scope.Scope> =>
  Effect.gen(function* () {
    const store = yield* LinkStore
    const guarded = yield* GuardedCreates
    const { readThen } = yield* LinkReader
    const scope = yield* Effect.scope
    const owners = new Map<number, Owner>()
    const ownerOf = (key: string) => owners.get(partitionOf(key))

    const places = yield* LinkPlaces
    const { laneOf, lanes } = places
    /** Where a database of several does not answer, another one may: with another key. */
    const failureOf = (error: StorageError) => {
      const { applied, reason } = fromFailure(error)
      return new Unavailable({ applied, reason, away: lanes > 1 })
    }

    /** What became of the links of a statement, or why all of them failed. */
    const doneOf = (
      exit: Exit.Exit<ReadonlyArray<boolean>, StorageError>
    ): Exit.Exit<ReadonlyArray<Done>, Unavailable> => {
      const failure = Exit.isFailure(exit)
        ? Option.getOrUndefined(Cause.failureOption(exit.cause))
        : undefined
      return failure instanceof PartlyFailed
        ? Exit.succeed(
            (failure.outcomes as Outcomes<boolean>).map(
              Either.match({ onLeft: failureOf, onRight: (isBound): Done => isBound })
            )
          )
        : Exit.mapError(exit, failureOf)
    }

    /** Binds links in one statement; `calls`: those of each caller, whose answers come alike. */
    const bindCalls = (calls: ReadonlyArray<ReadonlyArray<Link>>) => {
      const links = calls.flat()
      // What no cache keeps is nothing to owners: they learn of it as of links that other nodes bind.
      const ends = calls.map((call) =>
        call.length > keptMax ? undefined : call.map(({ key }) => ownerOf(key)?.beginWrite(key))
      )
      /** Ends the writes; gives what became of each call's links. */
      const end = (done: ReadonlyArray<Done>) => {
        let from = 0
        return calls.map((call, index) => {
          const bound = done.slice(from, from + call.length)
          ends[index]?.forEach((end, place) => end?.(bound[place] === true ? call[place] : undefined))
          from += call.length
          return bound
        })
      }
      return Direct.settled(store.insertMany(links), (exit) => {
        const done = doneOf(exit)
        const outcomes = end(Exit.isSuccess(done) ? done.value : [])
        return Exit.as(done, outcomes)
      })
    }

    const batcher = Batcher.make<ReadonlyArray<Link>, ReadonlyArray<Done>, Unavailable>({
      name: "LinkStore.insertMany",
      kind: "LinkStore.insertMany",
      run: bindCalls,
      sizeOf: ({ length }) => length,
      batchMax,
      queueMax: waitingMax,
      ...(yield* lanePace(places, inFlightMax)),
      quietTurns: 1
    })
    const batchers = yield* Effect.replicateEffect(batcher, lanes)

    /** By what a key was bound already, where the store can say it. */
    const askHolder = (key: string, answer: (outcome: CreateOutcome) => void, span?: Tracer.AnySpan) =>
      readThen(
        key,
        (row) => {
          const holder = Exit.getOrElse(row, () => undefined)
          if (holder === undefined) return answer("taken")
          answer(holder?.custom === true ? "taken-by-alias" : "taken-by-key")
        },
        span
      )

    const holderOf = (key: string) =>
      Effect.withFiberRuntime<CreateOutcome>((fiber) =>
        Effect.async((resume) =>
          askHolder(key, (outcome) => resume(Effect.succeed(outcome)), fiber.currentSpan)
        )
      )

    /** Binds guarded links. One that comes twice is bound again, also where its link was changed or deleted in between: owners' caches keep none. */
    const bindGuardedNow = (links: ReadonlyArray<GuardedLink>) =>
      Effect.suspend(() => {
        const ends = links.map(({ link }) => ownerOf(link.key)?.beginWrite(link.key))
        return Effect.ensuring(
          guarded.bindMany(links),
          Effect.sync(() => ends.forEach((end) => end?.(undefined)))
        )
      }).pipe(
        Effect.mapError(fromFailure),
        Effect.flatMap((outcomes) =>
          Parallel.forEach(outcomes, (outcome, index): Effect.Effect<GuardedOutcome> =>
            outcome === "taken" ? holderOf(links[index]!.link.key) : Effect.succeed(outcome)
          )
        )
      )

    /** Binds links of one lane. */
    const bindIn =
      (lane: number): BindThen =>
      (links, answer, span) => {
        const answerAll = (outcome: BindOutcome) => answer(links.map(() => outcome))
        const answerDone = (done: Exit.Exit<ReadonlyArray<Done>, Unavailable>) => {
          if (Exit.isFailure(done)) {
            return answerAll(
              Exit.failCause(Cause.isInterruptedOnly(done.cause) ? Cause.fail(stopped) : done.cause)
            )
          }
          if (done.value.every((one) => one === true)) return answerAll(bound)
          const outcomes = done.value.map((one) => (one instanceof Unavailable ? Exit.fail(one) : bound))
          let open = done.value.filter((one) => one === false).length
          if (open === 0) return answer(outcomes)
          for (const [place, { key }] of links.entries()) {
            if (done.value[place] !== false) continue
            askHolder(
              key,
              (outcome) => {
                outcomes[place] = Exit.succeed(outcome)
                if (--open === 0) answer(outcomes)
              },
              span
            )
          }
        }
        if (!batchers[lane]!.submitThen(links, answerDone, span)) answerAll(tooMany)
      }

    const bindThen: BindThen = (links, answer, span) => {
      const first = lanes === 1 || links.length === 0 ? 0 : laneOf(links[0]!.key)
      if (lanes === 1 || links.every(({ key }) => laneOf(key) === first)) {
        return bindIn(first)(links, answer, span)
      }
      const byLane = new Map<number, Array<number>>()
      for (const [place, { key }] of links.entries()) {
        const lane = laneOf(key)
        const present = byLane.get(lane)
        if (present === undefined) byLane.set(lane, [place])
        else present.push(place)
      }
      const outcomes: Array<BindOutcome> = []
      let open = byLane.size
      for (const [lane, places] of byLane) {
        bindIn(lane)(
          places.map((place) => links[place]!),
          (some) => {
            places.forEach((place, index) => (outcomes[place] = some[index]!))
            if (--open === 0) answer(outcomes)
          },
          span
        )
      }
    }

    return {
      of: (partition) => owners.get(partition),
      add: (partition, owner) =>
        Effect.acquireRelease(
          Effect.sync(() => void owners.set(partition, owner)),
          // Its successor can be here before it has gone.
          () => Effect.sync(() => void (owners.get(partition) === owner && owners.delete(partition)))
        ),
      bindThen,
      bindGuarded: (links) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.forkIn(Effect.interruptible(bindGuardedNow(links)), scope).pipe(
            Effect.flatMap((fiber) => restore(Fiber.await(fiber))),
            Effect.flatMap((exit) =>
              Exit.isFailure(exit) && Cause.isInterruptedOnly(exit.cause) ? stopped : exit
            )
          )
        )
    }
  })

/** See {@link make}. */
export const layer = (
  inFlightMax: number
): Layer.Layer<LocalOwners, never, GuardedCreates | LinkReader | LinkStore> =>
  Layer.scoped(LocalOwners, make(inFlightMax))
