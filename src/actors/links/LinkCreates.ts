import { Clock, Effect, Either, Exit, Metric, Runtime } from "effect"
import { plainKeyOf } from "../../keys/QualifiedKey.ts"
import type { Link } from "../../model/Link.ts"
import { sequentialIds } from "../../model/RandomId.ts"
import * as Metered from "../../telemetry/Metered.ts"
import * as Traced from "../../telemetry/Traced.ts"
import { monotonicNow_ms, monotonic_ms } from "../../time/MonotonicTime.ts"
import { KeyBuffer } from "../keys/KeyBuffer.ts"
import * as KeyChoice from "../keys/KeyChoice.ts"
import * as KeyMetrics from "../keys/KeyMetrics.ts"
import { Unavailable } from "../Unavailable.ts"
import type { Ask, Outcome } from "./CreateAsks.ts"
import * as CreateAsks from "./CreateAsks.ts"
import { AliasTaken, type Guarding, type LinkDraft, linkOf, type Superseded } from "./LinkDraft.ts"
import { LocalOwners } from "./LocalOwners.ts"
import { mayGoOn, retryWhileAway } from "./OwnersAway.ts"

/** How a node creates links. */
export interface LinkCreates {
  /** Binds a link. When this succeeds the link is durable, and every node redirects it. */
  readonly create: (draft: LinkDraft) => Effect.Effect<Link, AliasTaken | Unavailable>
  /**
   * The same for a draft without an alias, without an effect where its first key is bound, as nearly all are: calls `done` once, which must not throw.
   * Nothing of it is traced.
   */
  readonly createThen: (draft: LinkDraft, done: (made: Exit.Exit<Link, Unavailable>) => void) => void
  /** Binds links without an alias, each alone: what became of them, in their order. Costs a fraction of as many creates. */
  readonly createMany: (
    drafts: ReadonlyArray<LinkDraft>
  ) => Effect.Effect<ReadonlyArray<Either.Either<Link, Unavailable>>>
  /** Binds a link only while its guards are held: with it they are settled, at one moment. */
  readonly createGuarded: (
    draft: LinkDraft,
    guarding: Guarding
  ) => Effect.Effect<Link, AliasTaken | Superseded | Unavailable>
  /** Opened with each link that was bound. Whoever waits for the next one closes it. */
  readonly created: Effect.Latch
}

/** Keys tried for one create. */
const keyTriesMax = 8

/** The pause after the first key that this node could not bind because it stops, doubled with each further one. */
const awayPause_ms = 25

/** Links that were bound. */
export const linksCreated = Metered.counter("linkmint_links_created_total", "Links bound")

/** Links that were asked for together, and what became of each. */
interface Round<E> {
  readonly links: ReadonlyArray<Link>
  readonly outcomes: ReadonlyArray<Outcome<E>>
  /** Why no more links were asked for. */
  readonly failure: Unavailable | null
}

/** A round that was asked for already, at `start` (in `monotonicNow_ms`). */
interface FirstRound<E> extends Round<E> {
  readonly start: number
}

/** How creates that are under way go on. */
interface Going<E> {
  readonly ask: Ask<E>
  /** The guard together with which links are bound. */
  readonly beside: string | undefined
  /** When they began, in `monotonicNow_ms`. */
  readonly start: number
  /** Lets an effect be interrupted, where who waits for the creates can be. */
  readonly restore: <A, E1, R>(effect: Effect.Effect<A, E1, R>) => Effect.Effect<A, E1, R>
}

const noneBound = new Unavailable({ reason: `none of ${keyTriesMax} keys could be bound`, applied: "no" })

const isBound = <E>(outcome: Outcome<E>): boolean => Exit.isSuccess(outcome) && outcome.value === "bound"

const isUnknown = (error: Superseded | Unavailable): boolean =>
  error._tag === "Unavailable" && error.applied === "unknown"

const mintedOf = (links: ReadonlyArray<Link>): ReadonlyArray<string> =>
  links.filter(({ custom }) => !custom).map(({ key }) => plainKeyOf(key))

const conflictWith = { "taken-by-alias": "alias", "taken-by-key": "key", taken: "unknown" } as const

/** Counts a key that was bound already. */
const countConflict = (key: string, outcome: keyof typeof conflictWith) => {
  const by = conflictWith[outcome]
  const counted = Metric.increment(KeyMetrics.conflicts[by])
  return by === "key" ? Effect.zipRight(Effect.logWarning(`Key ${key} was bound already`), counted) : counted
}

/**
 * Takes keys. Gives fewer than were asked for, and why, where no more can be had. All that wait for a lease fail together, also
 * those that came last: they go on as long as their own time lasts, which began at `start` (in `monotonicNow_ms`).
 *
 * To be run where it cannot be interrupted, so that no key is lost: its waits can be interrupted all the same.
 */
const taking = (buffer: typeof KeyBuffer.Service, { takeMany }: KeyChoice.KeyChoice) =>
  Effect.fnUntraced(function* (wanted: number, start: number, beside?: string) {
    const keys: Array<string> = []
    let failure: Unavailable | null = null
    while (keys.length < wanted) {
      const taken = yield* takeMany(wanted - keys.length, beside).pipe(
        retryWhileAway(start),
        Effect.either,
        Effect.onError(() => buffer.putBack(keys))
      )
      if (Either.isLeft(taken)) {
        failure = taken.left
        break
      }
      keys.push(...taken.right)
    }
    return { keys, failure }
  })

/** See {@link LinkCreates}. */
export const make = Effect.gen(function* () {
  const buffer = yield* KeyBuffer
  const choice = yield* KeyChoice.make(buffer)
  /** Keys of links that were not bound go back, whether or not anyone still waits for the outcome. */
  const onRefused: CreateAsks.OnRefused = (links, by) =>
    by === "store" ? choice.refused(mintedOf(links)) : buffer.putBack(mintedOf(links))
  const local = yield* LocalOwners
  const runtime = yield* Effect.runtime()
  const bindThen = CreateAsks.telling(local.bindThen, onRefused, runtime)
  const takeKeys = taking(buffer, choice)
  const askAlone = CreateAsks.alone(bindThen)
  const askGuarded = CreateAsks.guarded(local, onRefused)
  const nextId = yield* sequentialIds
  const clock = yield* Effect.clock
  const runFork = Runtime.runFork(runtime)
  const created = Effect.unsafeMakeLatch()
  const count = (bound: number) => {
    Metered.add(linksCreated, bound)
    created.unsafeOpen()
  }

  /** Takes a key for each draft, asks for their links and waits for what became of them. Only the wait can be interrupted, so that no key is lost. */
  const roundOf = <E>(drafts: ReadonlyArray<LinkDraft>, { ask, beside, restore, start }: Going<E>) =>
    Effect.gen(function* () {
      const { failure, keys } = yield* takeKeys(drafts.length, start, beside)
      const now = yield* Clock.currentTimeMillis
      const links = keys.map((key, place) => linkOf(drafts[place]!, key, now, nextId()))
      const waiting = yield* ask(links)
      const round: Round<E> = { links, outcomes: yield* restore(waiting), failure }
      return round
    })

  /** What follows for the draft of a link that was not bound: another key after a pause (`away`) or at once (`taken`), or its failure. */
  const afterFailure = <E extends Superseded>(
    { key }: Link,
    outcome: Outcome<E>,
    { restore, start }: Going<E>
  ): Effect.Effect<"away" | "taken" | Either.Either<never, E | Unavailable>> =>
    Effect.gen(function* () {
      const known = yield* Effect.either(outcome)
      if (Either.isRight(known)) {
        const by = known.right as keyof typeof conflictWith
        yield* restore(
          Effect.zipRight(countConflict(key, by), by === "taken-by-key" ? choice.dropBound : Effect.void)
        )
        return "taken"
      }
      if (isUnknown(known.left)) Metered.add(KeyMetrics.lost["unknown-outcome"])
      return (yield* mayGoOn(known.left, start)) ? "away" : Either.left(known.left)
    })

  /**
   * Binds drafts to minted keys, each alone: what became of them, in their order. In rounds: those that are not bound take new keys, and are asked for
   * together. `first`: the first round, where it is over already.
   */
  const bindMinted = <E extends Superseded>(
    drafts: ReadonlyArray<LinkDraft>,
    ask: Ask<E>,
    first?: FirstRound<E>,
    beside?: string
  ): Effect.Effect<ReadonlyArray<Either.Either<Link, E | Unavailable>>> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const going: Going<E> = { ask, beside, restore, start: first?.start ?? (yield* monotonic_ms) }
        const unbound: Either.Either<Link, E | Unavailable> = Either.left(noneBound)
        const made = drafts.map(() => unbound)
        let open = drafts.map((_, place) => place)
        let pause_ms = awayPause_ms
        for (let tries = 0; open.length > 0 && tries < keyTriesMax; tries++) {
          const asked = open.map((place) => drafts[place]!)
          const round: Round<E> = tries === 0 && first !== undefined ? first : yield* roundOf(asked, going)
          const again: Array<number> = []
          let isAway = false
          let bound = 0
          for (const [index, place] of open.entries()) {
            const link = round.links[index]
            if (link === undefined) {
              made[place] = Either.left(round.failure!)
            } else if (isBound(round.outcomes[index]!)) {
              bound++
              made[place] = Either.right(link)
            } else {
              const next = yield* afterFailure(link, round.outcomes[index]!, going)
              if (next === "away" || next === "taken") again.push(place)
              else made[place] = next
              isAway ||= next === "away"
            }
          }
          if (bound > 0) count(bound)
          open = again
          if (!isAway) continue
          yield* restore(Effect.sleep(pause_ms))
          pause_ms *= 2
        }
        return made
      })
    )

  const bindOne = <E extends Superseded>(
    draft: LinkDraft,
    ask: Ask<E>,
    first?: FirstRound<E>,
    beside?: string
  ) =>
    Effect.flatMap(bindMinted([draft], ask, first, beside), ([made]) => made!).pipe(
      Traced.span("Links.createMinted")
    )

  const bindAlias = <E extends Superseded>(draft: LinkDraft, alias: string, ask: Ask<E>) =>
    Effect.gen(function* () {
      const start = yield* monotonic_ms
      const link = linkOf(draft, alias, yield* Clock.currentTimeMillis, nextId())
      // Retried with the same id: a create that was applied, and whose answer was lost, is recognised.
      const outcome = yield* Effect.flatten(ask([link])).pipe(
        Effect.flatMap(([outcome]) => outcome!),
        retryWhileAway(start)
      )
      if (outcome !== "bound") return yield* new AliasTaken({ alias })
      count(1)
      return link
    }).pipe(Traced.span("Links.createAlias"))

  const bind = <E extends Superseded>(draft: LinkDraft, ask: Ask<E>, beside?: string) =>
    draft.alias === null ? bindOne(draft, ask, undefined, beside) : bindAlias(draft, draft.alias, ask)

  const createThen: LinkCreates["createThen"] = (draft, done) => {
    const otherwise = (create: Effect.Effect<Link, Unavailable>) => void runFork(create).addObserver(done)
    const start = monotonicNow_ms(clock)
    const key = choice.takeNow()
    if (key === undefined) return otherwise(bindOne(draft, askAlone))
    const link = linkOf(draft, key, clock.unsafeCurrentTimeMillis(), nextId())
    bindThen([link], (outcomes) => {
      if (!isBound(outcomes[0]!)) {
        return otherwise(bindOne(draft, askAlone, { start, links: [link], outcomes, failure: null }))
      }
      count(1)
      done(Exit.succeed(link))
    })
  }

  const creates: LinkCreates = {
    create: (draft) => bind(draft, askAlone),
    createThen,
    createMany: (drafts) => Traced.span("Links.createMany")(bindMinted(drafts, askAlone)),
    createGuarded: (draft, guarding) => bind(draft, askGuarded(guarding), guarding.guards[0]?.name),
    created
  }
  return creates
})
