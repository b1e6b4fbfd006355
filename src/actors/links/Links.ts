import type { Sharding } from "@effect/cluster/Sharding"
import {
  Clock,
  Context,
  Data,
  Duration,
  Effect,
  Either,
  Exit,
  Layer,
  Metric,
  Option,
  Runtime,
  Schedule,
  type Scope
} from "effect"
import * as Parallel from "../../fibers/Parallel.ts"
import { type Link, type LinkChange, type LinkChoices, stateAt } from "../../model/Link.ts"
import type { Guard } from "../../storage/links/GuardedCreates.ts"
import {
  type CrawlableQuery,
  type LinkPage,
  type LinkQuery,
  LinkStore
} from "../../storage/links/LinkStore.ts"
import { LinkReplicas } from "../../storage/links/LinkReplicas.ts"
import * as Metered from "../../telemetry/Metered.ts"
import { monotonic_ms, monotonicNow_ms } from "../../time/MonotonicTime.ts"
import { drawId, sequentialIds } from "../../model/RandomId.ts"
import * as Timeout from "../../fibers/Timeout.ts"
import { ExpiredLinks } from "./ExpiredLinks.ts"
import { KeyBuffer } from "../keys/KeyBuffer.ts"
import { keyConflicts } from "../keys/KeyConflicts.ts"
import * as KeyMetrics from "../keys/KeyMetrics.ts"
import * as LinkCache from "./LinkCache.ts"
import * as LinkReader from "./LinkReader.ts"
import { RedirectCache } from "./RedirectCache.ts"
import * as LinkWriters from "./LinkWriters.ts"
import { type Failure, fromFailure, orUnavailable, Unavailable } from "../Unavailable.ts"
import { type CreateOutcome, type GuardedOutcome, partitionOf, UrlMapping } from "./UrlMapping.ts"
import * as VisitTakers from "./VisitTakers.ts"
import * as Traced from "../../telemetry/Traced.ts"

/** The alias has a row: it is in use, or was. */
export class AliasTaken extends Data.TaggedError("AliasTaken")<{ readonly alias: string }> {}

/** Somebody else holds a guard of the create now, or has settled it; or an earlier try of the same create has. */
export class Superseded extends Data.TaggedError("Superseded")<{}> {}

/** The guards under which a link is bound, and the answer that is kept with them then. */
export interface Guarding {
  readonly guards: ReadonlyArray<Guard>
  readonly answerOf: (link: Link) => string
}

/** What a new link is made of. */
export interface LinkDraft extends LinkChoices {
  /** `null`: a minted key. */
  readonly alias: string | null
  /** The id of the user whose link it will be, `null` for an anonymous creator's. */
  readonly owner: string | null
  /** See `Link`. */
  readonly keyId?: string
  readonly keyRedirectsPerDay?: number
}

/** What the node can do with links, whichever actors do it. */
export class Links extends Context.Tag("linkmint/Links")<
  Links,
  {
    /** Binds a link. When this succeeds the link is durable, and every node redirects it. */
    readonly create: (draft: LinkDraft) => Effect.Effect<Link, AliasTaken | Unavailable>
    /**
     * The same for a draft without an alias, without an effect where its first key is bound, as nearly all are: calls `done` once, which must not throw.
     * Nothing of it is traced.
     */
    readonly createSoon: (draft: LinkDraft, done: (made: Exit.Exit<Link, Unavailable>) => void) => void
    /** Binds links without an alias, each alone: what became of them, in their order. Costs a fraction of as many creates. */
    readonly createMany: (
      drafts: ReadonlyArray<LinkDraft>
    ) => Effect.Effect<ReadonlyArray<Either.Either<Link, Unavailable>>>
    /** The same, only while its guards are held: with it they are settled, at one moment. */
    readonly createGuarded: (
      draft: LinkDraft,
      guarding: Guarding
    ) => Effect.Effect<Link, AliasTaken | Superseded | Unavailable>
    /** The row of a key, tombstones included, `null` where there is none. */
    readonly find: (key: string) => Effect.Effect<Link | null, Unavailable>
    /**
     * The same for a redirect of a visitor: while the database does not answer, a row that this node knew when it went away is
     * given for `STALE_REDIRECTS`, where its redirects need nothing else.
     */
    readonly findToRedirect: (key: string) => Effect.Effect<Link | null, Unavailable>
    /** As `findToRedirect`, without an effect: calls `done` once, which must not throw. Nothing of it is traced. */
    readonly findSoon: (key: string, done: (found: Exit.Exit<Link | null, Unavailable>) => void) => void
    /** The row of a key as far as this node has it at hand, without an effect; `undefined` where `find` must be asked. */
    readonly peek: (key: string) => Link | undefined
    /** The row of a key that `findToRedirect` gives at once because the database does not answer; see `LinkCache`. */
    readonly stale: (key: string) => Link | undefined
    /** Changes a link of `owner`, and gives it as it is then; `null` where there is none of that owner that is not deleted. */
    readonly update: (
      key: string,
      owner: string | null,
      change: LinkChange
    ) => Effect.Effect<Link | null, Unavailable>
    /** The keys of the newest links that are for crawlers, as the store has them. */
    readonly crawlable: (query: CrawlableQuery) => Effect.Effect<ReadonlyArray<string>, Unavailable>
    /** Uses one visit of a link that has only so many; `false` where none is left. */
    readonly visit: (key: string) => Effect.Effect<boolean, Unavailable>
    /** Deletes a link; `false` where there was none that was not deleted yet. `owner`: whose it is, so that he can be told. */
    readonly remove: (key: string, owner?: string | null) => Effect.Effect<boolean, Unavailable>
    /** A page of links, as the store has them: what was acknowledged before stands in it. */
    readonly list: (query: LinkQuery) => Effect.Effect<LinkPage, Unavailable>
  }
>() {}

/** Keys tried for one create. */
const keyTriesMax = 8

/** Keys passed over in one search for a partition that has an owner. */
const passedOverMax = 8

/**
 * How long a create begins new tries while owners are away, in milliseconds: such that the last one's answer, which is waited for 1.2 s,
 * comes within the 4 s that a request has.
 */
const createMax_ms = 2_700

/**
 * The pause after the first key whose owner is away, doubled with each further one: an owner can be known to be away at once, and eight keys
 * would be used up long before one is back.
 */
const awayPause_ms = 25

/** An alias has one partition, whose owner comes back somewhere, and so does a pool shard's. */
const retryAfter = Duration.millis(100)

/** Statements to a replica at a time. */
const replicaReadsMax = 2

/** Reads of a link whose row is at hand, while it is not known whether the database is away: that takes two heartbeats, of a second at most. */
const readsUntilAway = 20

/** A change or a delete is answered within this, or may be tried again. */
const writeMax = Duration.seconds(4)

/** Links that were bound. */
export const linksCreated = Metered.counter("linkmint_links_created_total", "Links bound")

const conflictWith = { "taken-by-alias": "alias", "taken-by-key": "key", taken: "unknown" } as const

/** Field by field: to spread a draft takes longer than all else that a bulk does with a link here. */
const linkOf = (draft: LinkDraft, key: string, now: number, createId: number): Link => ({
  key,
  url: draft.url,
  title: draft.title,
  tags: draft.tags,
  validSince: draft.validSince,
  expiresAt: draft.expiresAt,
  maxVisits: draft.maxVisits,
  passwordHash: draft.passwordHash,
  redirectStatus: draft.redirectStatus,
  forwardQuery: draft.forwardQuery,
  crawlable: draft.crawlable,
  owner: draft.owner,
  custom: draft.alias !== null,
  createdAt: now,
  updatedAt: now,
  deletedAt: null,
  ...(draft.keyId !== undefined && { keyId: draft.keyId }),
  ...(draft.keyRedirectsPerDay !== undefined && { keyRedirectsPerDay: draft.keyRedirectsPerDay }),
  visitsLeft: draft.maxVisits,
  createId
})

const tooMany = new Unavailable({ reason: "too many creates wait for the key's partition", applied: "no" })

const silent = () => new Unavailable({ reason: "the owner did not answer", applied: "unknown", away: true })

/** Asks for a link to be bound; gives the effect that waits for the outcome. */
type Ask = (link: Link) => Effect.Effect<Effect.Effect<GuardedOutcome, Unavailable>, Unavailable>

/** A link that was asked for, and the effect that waits for the outcome. */
interface Asked {
  readonly link: Link
  readonly waiting: Effect.Effect<GuardedOutcome, Unavailable>
}

/** Of many: a link that was asked for, or why it could not be; `null` where another key had better be taken. */
type Tried = Either.Either<Link, Unavailable> | null

/** See {@link Links}. */
export const make: Effect.Effect<
  typeof Links.Service,
  never,
  KeyBuffer | LinkStore | RedirectCache | Sharding | Scope.Scope
> = Effect.gen(function* () {
  const buffer = yield* KeyBuffer
  const expiredLinks = yield* ExpiredLinks
  const cache = yield* RedirectCache
  const store = yield* LinkStore
  const findInReplica = yield* LinkReplicas
  const hasReplica = Option.isSome(findInReplica)
  const replica = yield* LinkReader.over(
    Option.getOrElse(findInReplica, () => store.findMany),
    replicaReadsMax
  )
  const clientOf = yield* UrlMapping.client
  const mintedOf = (links: ReadonlyArray<Link>) => links.filter(({ custom }) => !custom).map(({ key }) => key)
  /** Keys of links that were not bound go back, whether or not anyone still waits for the outcome. */
  const onRefused = (links: ReadonlyArray<Link>) => buffer.putBackUnbound(mintedOf(links))

  const writers = yield* LinkWriters.make({
    onUnsent: (links) => buffer.putBack(mintedOf(links)),
    onRefused
  })
  buffer.prefer(writers.gathering)
  const clock = yield* Effect.clock
  const runtime = yield* Effect.runtime()
  const nextId = yield* sequentialIds
  const takers = yield* VisitTakers.make

  /** What a failed create may do: go on with another key or try again, as long as its client waits. */
  const mayGoOn = (error: Unavailable, start: number) =>
    Effect.map(monotonicNow_ms, (now) => error.away && now - start < createMax_ms)

  const ownerOf = (key: string) => clientOf(String(partitionOf(key)))

  /** Guarded creates are few, and go in messages of their own. */
  const askGuarded =
    ({ answerOf, guards }: Guarding): Ask =>
    (link) =>
      Effect.succeed(
        Timeout.within(
          orUnavailable(
            ownerOf(link.key).CreateGuarded({ links: [{ link, guards, answer: answerOf(link) }] })
          ),
          { duration: LinkWriters.ownerMax, onTimeout: silent }
        ).pipe(
          Effect.map(([outcome]) => outcome!),
          Effect.tapError(({ applied }) => (applied === "no" ? onRefused([link]) : Effect.void))
        )
      )

  const createAlias = Effect.fnUntraced(function* (draft: LinkDraft, alias: string, ask: Ask) {
    const start = yield* monotonicNow_ms
    const link = linkOf(draft, alias, yield* Clock.currentTimeMillis, yield* drawId)
    // Repeated with one id: the create that was applied, and whose answer was lost, is known again.
    const outcome = yield* Effect.flatten(ask(link)).pipe(
      Effect.retry({ while: (error) => mayGoOn(error, start), schedule: Schedule.spaced(retryAfter) })
    )
    if (outcome === "superseded") return yield* new Superseded()
    return outcome === "bound" ? link : yield* new AliasTaken({ alias })
  }, Traced.span("Links.createAlias"))

  /** A key whose partition has an owner, as far as this node knows; any key when it knows of none. */
  const takeKey = Effect.gen(function* () {
    const now = yield* monotonicNow_ms
    const passedOver: Array<string> = []
    let key = yield* buffer.take
    while (writers.isAway(key, now) && passedOver.length < passedOverMax) {
      passedOver.push(key)
      key = yield* Effect.onError(buffer.take, () => buffer.putBack(passedOver))
    }
    if (passedOver.length > 0) yield* buffer.putBack(passedOver)
    return key
  })

  /** All that wait for a lease fail together, also those who came last: they go on as long as their own time lasts. */
  const takeInTime = <A>(take: Effect.Effect<A, Unavailable>, start: number): Effect.Effect<A, Unavailable> =>
    Effect.catchAll(take, (error) =>
      Effect.flatMap(mayGoOn(error, start), (goOn) =>
        goOn ? Effect.zipRight(Effect.sleep(retryAfter), takeInTime(take, start)) : error
      )
    )

  const countConflict = (key: string, outcome: keyof typeof conflictWith) => {
    const by = conflictWith[outcome]
    const counted = Metric.increment(keyConflicts[by])
    return by === "key"
      ? Effect.zipRight(Effect.logWarning(`Key ${key} was bound already`), counted)
      : counted
  }

  /** Takes a key and asks for it to be bound. Uninterruptible, so that no key is lost in between. */
  const askWithKey = Effect.fnUntraced(function* (draft: LinkDraft, ask: Ask, start: number) {
    const key = yield* takeInTime(takeKey, start)
    const link = linkOf(draft, key, yield* Clock.currentTimeMillis, yield* drawId)
    const waiting = yield* Effect.tapError(ask(link), () => buffer.putBack([key]))
    return { link, waiting } satisfies Asked
  })

  /** Notes that a key was bound already; another one is to be tried. */
  const noteConflict = (key: string, outcome: keyof typeof conflictWith) =>
    Effect.zipRight(countConflict(key, outcome), outcome === "taken-by-key" ? buffer.dropBound : Effect.void)

  /** Takes keys until one is bound. `triedSince`: when a first key was tried already. */
  const createMinted = Effect.fnUntraced(function* (
    draft: LinkDraft,
    ask: Ask,
    restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>,
    triedSince?: number
  ) {
    const start = triedSince ?? (yield* monotonicNow_ms)
    let pause_ms = awayPause_ms
    for (let tries = triedSince === undefined ? 0 : 1; tries < keyTriesMax; tries++) {
      const { link, waiting } = yield* askWithKey(draft, ask, start)
      const outcome = yield* Effect.either(restore(waiting))
      if (outcome._tag === "Left") {
        if (outcome.left.applied === "unknown") Metered.add(KeyMetrics.lost["unknown-outcome"])
        if (!(yield* mayGoOn(outcome.left, start))) return yield* outcome.left
        yield* restore(Effect.sleep(pause_ms))
        pause_ms *= 2
        continue
      }
      if (outcome.right === "bound") return link
      if (outcome.right === "superseded") {
        yield* onRefused([link])
        return yield* new Superseded()
      }
      yield* restore(noteConflict(link.key, outcome.right))
    }
    return yield* new Unavailable({ reason: `none of ${keyTriesMax} keys could be bound`, applied: "no" })
  }, Traced.span("Links.createMinted"))

  const create = (draft: LinkDraft, ask: Ask, triedSince?: number) =>
    Effect.tap(
      draft.alias === null
        ? Effect.uninterruptibleMask((restore) => createMinted(draft, ask, restore, triedSince))
        : createAlias(draft, draft.alias, ask),
      () => Metric.increment(linksCreated)
    )

  const createAlone = (draft: LinkDraft, triedSince?: number) =>
    // Nobody supersedes what has no guard.
    Effect.catchTag(create(draft, writers.ask, triedSince), "Superseded", Effect.die)

  const createMintedAlone = (draft: LinkDraft, triedSince?: number) =>
    Effect.catchTag(createAlone(draft, triedSince), "AliasTaken", Effect.die)

  /** What becomes of a link whose first key was not bound. */
  const notBound = Effect.fnUntraced(function* (
    { key }: Link,
    outcome: Either.Either<CreateOutcome, Unavailable>,
    start: number
  ) {
    if (Either.isLeft(outcome)) {
      if (outcome.left.applied === "unknown") Metered.add(KeyMetrics.lost["unknown-outcome"])
      return (yield* mayGoOn(outcome.left, start)) ? null : Either.left(outcome.left)
    }
    if (outcome.right !== "bound") yield* noteConflict(key, outcome.right)
    return null
  })

  const firstTries = Effect.fnUntraced(function* (
    links: ReadonlyArray<Link>,
    outcomes: ReadonlyArray<Exit.Exit<CreateOutcome, Unavailable>>,
    start: number
  ) {
    const tried: Array<Tried> = []
    for (const [place, link] of links.entries()) {
      const outcome = outcomes[place]!
      const isBound = Exit.isSuccess(outcome) && outcome.value === "bound"
      tried.push(isBound ? Either.right(link) : yield* notBound(link, yield* Effect.either(outcome), start))
    }
    return tried
  })

  /** Asks for the links of one partition. Gives the effect that waits for what became of each. */
  const askForPartition = (links: ReadonlyArray<Link>, start: number) =>
    writers.askMany(links).pipe(
      Effect.map((waiting) => Effect.flatMap(waiting, (outcomes) => firstTries(links, outcomes, start))),
      Effect.tapError(() => buffer.putBack(mintedOf(links))),
      Effect.catchAll((error) => Effect.succeed(Effect.succeed(links.map((): Tried => Either.left(error)))))
    )

  /** Keys for many links, and why there are no more where there are too few: those behind would only wait as long again. */
  const takeKeys = Effect.fnUntraced(function* (wanted: number, start: number) {
    const keys: Array<string> = []
    while (keys.length < wanted) {
      const some = yield* takeInTime(buffer.takeMany(wanted - keys.length), start).pipe(
        Effect.either,
        Effect.onError(() => buffer.putBack(keys))
      )
      if (Either.isLeft(some)) return { keys, failure: Either.left(some.left) }
      keys.push(...some.right)
    }
    return { keys, failure: null }
  })

  /** Asks for the drafts. Gives the effect that waits for what became of them. Uninterruptible, like `askWithKey`. */
  const askForAll = Effect.fnUntraced(function* (drafts: ReadonlyArray<LinkDraft>, start: number) {
    const { failure, keys } = yield* takeKeys(drafts.length, start)
    const at = yield* Clock.currentTimeMillis
    const now = yield* monotonicNow_ms
    const away: Array<string> = []
    const byPartition = new Map<number, { readonly links: Array<Link>; readonly places: Array<number> }>()
    for (const [place, key] of keys.entries()) {
      if (writers.isAway(key, now)) {
        away.push(key)
        continue
      }
      const partition = partitionOf(key)
      const { links, places } = byPartition.get(partition) ?? { links: [], places: [] }
      links.push(linkOf(drafts[place]!, key, at, nextId()))
      places.push(place)
      byPartition.set(partition, { links, places })
    }
    if (away.length > 0) yield* buffer.putBack(away)
    const asked: Array<readonly [ReadonlyArray<number>, Effect.Effect<ReadonlyArray<Tried>>]> = []
    for (const { links, places } of byPartition.values()) {
      asked.push([places, yield* askForPartition(links, start)])
    }
    const waiting = Effect.gen(function* () {
      const tried = drafts.map((_, place): Tried => (place < keys.length ? null : failure))
      for (const [places, waits] of asked) {
        const each = yield* waits
        places.forEach((place, index) => (tried[place] = each[index]!))
      }
      return tried
    })
    return { waiting }
  })

  /** In one fiber, and in one message a partition, since most are bound with their first key. The others are created one by one. */
  const createMany = Effect.fnUntraced(function* (drafts: ReadonlyArray<LinkDraft>) {
    const start = yield* monotonicNow_ms
    const { waiting } = yield* Effect.uninterruptible(askForAll(drafts, start))
    const tried = yield* waiting
    const bound = tried.filter((first) => first !== null && Either.isRight(first))
    yield* Metric.incrementBy(linksCreated, bound.length)
    const again = tried.flatMap((first, index) => (first === null ? [index] : []))
    const others = yield* Parallel.forEach(again, (index) =>
      Effect.either(createMintedAlone(drafts[index]!, start))
    )
    return tried.map((first, index) => first ?? others[again.indexOf(index)]!)
  }, Traced.span("Links.createMany"))

  const createSoon = (draft: LinkDraft, done: (made: Exit.Exit<Link, Unavailable>) => void) => {
    const otherwise = (create: Effect.Effect<Link, Unavailable>) =>
      void Runtime.runFork(runtime, create).addObserver(done)
    const start = monotonic_ms(clock)
    const key = buffer.takeNow()
    if (key === undefined) return otherwise(createMintedAlone(draft))
    const instead = (create: Effect.Effect<Link, Unavailable>) =>
      otherwise(Effect.zipRight(Effect.uninterruptible(buffer.putBack([key])), create))
    if (writers.isAway(key, start)) return instead(createMintedAlone(draft))
    const link = linkOf(draft, key, clock.unsafeCurrentTimeMillis(), nextId())
    const isAsked = writers.push(link, (outcome) => {
      if (Exit.isSuccess(outcome) && outcome.value === "bound") {
        Metered.add(linksCreated)
        return done(Exit.succeed(link))
      }
      otherwise(
        Effect.either(outcome).pipe(
          Effect.flatMap((first) => notBound(link, first, start)),
          Effect.flatMap((refused) => refused ?? createMintedAlone(draft, start))
        )
      )
    })
    if (!isAsked) instead(tooMany)
  }

  /** Repeats what has an id, by which its owner knows it again, while the owner is away. */
  const untilOwned = <A>(call: Effect.Effect<A, Failure>) =>
    Effect.flatMap(monotonicNow_ms, (start) =>
      Effect.retry(orUnavailable(call), {
        while: (error) => mayGoOn(error, start),
        schedule: Schedule.spaced(retryAfter)
      })
    )

  /** Has a link written by its owner. Other writes of it may come between, so that what it leaves is not kept here. */
  const writeByOwner = <A>(key: string, call: Effect.Effect<A, Failure>) =>
    cache.write([key], Timeout.within(untilOwned(call), { duration: writeMax, onTimeout: silent }), () => [])

  const found = (link: Link | null, now: number) => {
    if (link !== null && stateAt(link, now) === "expired") expiredLinks.found(link.key)
    return link
  }

  /** Reads again until the database answers, or is known to be away: two of its heartbeats must fail first. */
  const readUntilAway = (key: string): Effect.Effect<Link | null, Unavailable> =>
    Effect.sleep(retryAfter).pipe(
      Effect.zipRight(Effect.suspend(() => Effect.fromNullable(cache.stale(key)))),
      Effect.orElse(() => (cache.isAway() ? readReplica(key) : LinkCache.get(cache, key))),
      Effect.retry({ times: readsUntilAway, while: () => !cache.isAway() })
    )

  /** A link as a replica has it. One that it lacks may have been made a moment ago, and one that counts its visits needs the database. */
  const readReplica = (key: string): Effect.Effect<Link, Unavailable> =>
    Effect.filterOrFail(
      LinkCache.get({ ask: replica.read }, key),
      (link) => link !== null && LinkCache.isPlain(link),
      () =>
        new Unavailable({ reason: "the database is away, and no replica can answer for it", applied: "no" })
    ) as Effect.Effect<Link, Unavailable>

  const answerBy = (
    read: Effect.Effect<Link | null, Unavailable>,
    answer: Parameters<LinkCache.Ask<Unavailable>>[1]
  ) => Runtime.runFork(runtime)(read).addObserver(answer)

  /** A read that fails may be the first to find that the database has gone. */
  const askToRedirect: LinkCache.Ask<Unavailable> = (key, answer, span) => {
    const stale = cache.stale(key)
    if (stale !== undefined) return answer(Exit.succeed(stale))
    if (hasReplica && cache.isAway()) return answerBy(readReplica(key), answer)
    cache.ask(
      key,
      (row) => {
        if (Exit.isSuccess(row))
          return answer(Exit.succeed(found(row.value, clock.unsafeCurrentTimeMillis())))
        const known = cache.stale(key)
        if (known !== undefined) answer(Exit.succeed(known))
        else if (cache.mayBeStale(key) || hasReplica) answerBy(readUntilAway(key), answer)
        else answer(row)
      },
      span
    )
  }

  return {
    create: createAlone,
    createSoon,
    createMany,
    createGuarded: (draft, guarding) => create(draft, askGuarded(guarding)),
    find: (key) => Effect.zipWith(LinkCache.get(cache, key), Clock.currentTimeMillis, found),
    findToRedirect: (key) =>
      Effect.withFiberRuntime((fiber) =>
        Effect.async((resume) => askToRedirect(key, resume, fiber.currentSpan))
      ),
    findSoon: askToRedirect,
    peek: cache.peek,
    stale: cache.stale,
    update: Effect.fnUntraced(function* (key, owner, change) {
      const at = yield* Clock.currentTimeMillis
      const updateId = yield* drawId
      return yield* writeByOwner(key, ownerOf(key).Update({ key, owner, at, change, updateId }))
    }, Traced.span("Links.update")),
    crawlable: (query) => Effect.mapError(store.crawlable(query), fromFailure),
    visit: (key) =>
      Effect.map(takers.take(key), ({ granted, left }) => {
        if (left === 0) cache.forget(key)
        return granted > 0
      }),
    remove: Effect.fnUntraced(function* (key, owner = null) {
      const at = yield* Clock.currentTimeMillis
      const deleteId = yield* drawId
      return yield* writeByOwner(key, ownerOf(key).Delete({ key, at, deleteId, owner }))
    }, Traced.span("Links.remove")),
    list: (query) => Effect.mapError(store.list(query), fromFailure)
  }
})

/** See {@link Links}. */
export const layer: Layer.Layer<Links, never, KeyBuffer | LinkStore | RedirectCache | Sharding> =
  Layer.scoped(Links, make)
