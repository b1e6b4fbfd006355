import { Context, Effect, type Runtime, Schedule, type Scope } from "effect"
import { bucketCount, bucketOf } from "../../../keys/Buckets.ts"
import type { Link } from "../../../model/Link.ts"
import { LinkCarrier } from "../../../storage/homes/LinkDatabaseList.ts"
import { carryAll, carryBy, carryMessagesBy } from "../../../storage/homes/LinkOutbox.ts"
import * as GuardedCreatesRouted from "../../../storage/homes/GuardedCreatesRouted.ts"
import { changesOf, keysMax, placesOf } from "../../../storage/homes/LinkHomes.ts"
import * as LinkLifetimeRouted from "../../../storage/homes/LinkLifetimeRouted.ts"
import { LinkPlaces } from "../../../storage/homes/LinkPlaces.ts"
import * as LinkRemovalsRouted from "../../../storage/homes/LinkRemovalsRouted.ts"
import * as LinkStoreRouted from "../../../storage/homes/LinkStoreRouted.ts"
import * as PlacementCache from "../../../storage/homes/PlacementCache.ts"
import * as Router from "../../../storage/homes/Router.ts"
import * as VisitStoreRouted from "../../../storage/homes/VisitStoreRouted.ts"
import { GuardedCreates } from "../../../storage/links/GuardedCreates.ts"
import type { LinkInvalidationsService } from "../../../storage/links/LinkInvalidations.ts"
import { LinkLifetime } from "../../../storage/links/LinkLifetime.ts"
import { LinkRemovals } from "../../../storage/links/LinkRemovals.ts"
import { LinkStore } from "../../../storage/links/LinkStore.ts"
import { isRefused } from "../../../storage/links/buckets/LinkTenure.ts"
import type { StorageError } from "../../../storage/StorageError.ts"
import { VisitStore } from "../../../storage/visits/VisitStore.ts"
import { WebhookStore } from "../../../storage/webhooks/WebhookStore.ts"
import { monotonicNow_ms } from "../../../time/MonotonicTime.ts"
import type { Journal } from "../../Journal.ts"
import type { Mutation } from "../../mutants/Mutation.ts"
import type { VirtualProcess } from "../../world/VirtualProcess.ts"
import { noteWrites } from "../ports/VisitPort.ts"
import type { VirtualDatabase } from "../VirtualDatabase.ts"
import * as Asks from "./Asks.ts"
import * as Statements from "./Statements.ts"

/** The pause before a node that does not know the placement yet asks for it again. */
const askAgain = Schedule.spaced("200 millis")

/** What each node has of one database. */
interface OneDatabase
  extends
    LinkStoreRouted.HasLinks,
    GuardedCreatesRouted.HasGuards,
    LinkLifetimeRouted.HasLifetime,
    LinkRemovalsRouted.HasOwners,
    VisitStoreRouted.HasVisits {}

/** What a node knows of its stores over several databases. */
export interface HomePorts {
  readonly stores: ReturnType<VirtualDatabase["stores"]>
  readonly changes: LinkInvalidationsService
}

/**
 * Several databases that have links, of which the first is the control database, and the product's own routing over them. Each of them has faults of its own; their clocks are one.
 */
export class VirtualHomes {
  readonly databases: ReadonlyArray<VirtualDatabase>
  readonly #journal: Journal
  readonly #mutation: Mutation
  readonly #haveUsers: boolean

  /** `haveUsers`: whether messages for webhooks are carried. The buckets are where `homeOf` says at first. */
  constructor(
    databases: ReadonlyArray<VirtualDatabase>,
    journal: Journal,
    mutation: Mutation,
    { haveUsers, homeOf }: { readonly haveUsers: boolean; readonly homeOf: (bucket: number) => number }
  ) {
    this.#haveUsers = haveUsers
    this.databases = databases
    this.#journal = journal
    this.#mutation = mutation
    const { places } = this.control.tables.placement
    for (let bucket = 0; bucket < bucketCount; bucket++)
      places[bucket] = { home: homeOf(bucket), movingTo: null }
  }

  get control(): VirtualDatabase {
    return this.databases[0]!
  }

  /** The number of the database where a key is at home. */
  home(key: string): number {
    return this.control.tables.placement.places[bucketOf(key)]!.home
  }

  /** The row of a key where it is at home. */
  row(key: string): Link | undefined {
    return this.databases[this.home(key)]!.row(key)
  }

  #linksOf(links: typeof LinkStore.Service): typeof LinkStore.Service {
    if (this.#mutation.moves?.refusalsAreAnswers !== true) return links
    return {
      ...links,
      insertMany: (rows) =>
        Effect.catchIf(links.insertMany(rows), isRefused, () => Effect.succeed(rows.map(() => true)))
    }
  }

  #guardedOf(guarded: typeof GuardedCreates.Service, number: number): typeof GuardedCreates.Service {
    const isUnasked = this.#mutation.moves?.looksInOne === true && number > 0
    return isUnasked ? { ...guarded, findByUrl: () => Effect.succeed(null) } : guarded
  }

  #ownedOf(links: LinkRemovalsRouted.OwnersLinks, number: number): LinkRemovalsRouted.OwnersLinks {
    return this.#mutation.moves?.removesInOne === true && number > 0
      ? { ...links, having: () => Effect.succeed([]) }
      : links
  }

  /** What looks for the links of owners who are gone. */
  #ownersRouterOf(router: Router.Router<OneDatabase>): Router.Router<OneDatabase> {
    if (this.#mutation.moves?.takesSilenceForNone !== true) return router
    const gather: typeof router.gather = (operation, ask) =>
      Effect.map(router.gather(operation, ask), ({ answers, failures }) => {
        const silent = router.databases.flatMap((_, index) =>
          answers.some((one) => one.index === index)
            ? []
            : [{ ...answers[0]!, index, answer: { index, owners: new Set() } as never }]
        )
        return { answers: [...answers, ...silent], failures }
      })
    return { ...router, gather }
  }

  #routerOf(
    parts: ReadonlyArray<OneDatabase>,
    placement: PlacementCache.PlacementCache,
    runtime: Runtime.Runtime<never>
  ): Router.Router<OneDatabase> {
    const router = Router.make(parts, placement, runtime)
    if (this.#mutation.moves?.gathersOnce !== true) return router
    // It knows of no move that is under way.
    const current = () => ({ ...placement.current(), leaving: new Set<number>() })
    return { ...router, gather: Router.make(parts, { ...placement, current }, runtime).gather }
  }

  #changesOf(
    news: ReadonlyArray<LinkInvalidationsService>,
    placement: PlacementCache.PlacementCache
  ): LinkInvalidationsService {
    const { asksControlAlone, epochsUnheard, keepsCached } = this.#mutation.moves ?? {}
    const changes = changesOf(
      epochsUnheard === true
        ? news.map(({ awayFor, isFresh, subscribe }) => ({ awayFor, isFresh, subscribe }))
        : news,
      keepsCached === true ? { ...placement, whenMoved: () => Effect.void } : placement
    )
    return asksControlAlone === true ? { ...changes, awayFor: (now) => changes.awayFor(now) } : changes
  }

  /** Carries messages for webhooks from a further database to the queue. */
  #carryMessages(
    process: VirtualProcess
  ): (database: VirtualDatabase) => Effect.Effect<boolean, StorageError> {
    if (!this.#haveUsers) return () => Effect.succeed(false)
    const { offer } = Context.get(this.control.userStores(process, this.#mutation), WebhookStore)
    return (database) => {
      const sound = Asks.messagesOf(database, process, offer)
      return carryMessagesBy(
        this.#mutation.moves?.removesUnqueued === true
          ? { ...sound, queue: sound.remove, remove: sound.queue }
          : sound
      )
    }
  }

  /** What a process has in place of the stores of one database. It waits until the placement is known. */
  ports(process: VirtualProcess): Effect.Effect<HomePorts, never, Scope.Scope> {
    return Effect.gen(this, function* () {
      const { control, databases } = this
      const { carriesTwice, confirmsNothing } = this.#mutation.moves ?? {}
      const clock = yield* Effect.clock
      const news = yield* Effect.forEach(databases, (database) => database.changes(process))
      const store = Asks.placementOf(control, process)
      const placement = yield* Effect.retry(
        PlacementCache.make(this.#mutation.placement?.(store, process) ?? store, databases.length),
        askAgain
      ).pipe(Effect.orDie)
      const parts = databases.map((database, number): OneDatabase => {
        const stores = database.stores(process)
        return {
          sql: Statements.make(
            confirmsNothing === true
              ? { ...Asks.ofStatements(database, process), isInForce: () => Effect.succeed(true) }
              : Asks.ofStatements(database, process)
          ),
          isAway: () => news[number]!.awayFor(monotonicNow_ms(clock)) !== undefined,
          links: this.#linksOf(Context.get(stores, LinkStore)),
          guarded: this.#guardedOf(Context.get(stores, GuardedCreates), number),
          lifetime: Context.get(stores, LinkLifetime),
          owned: this.#ownedOf(database.owners(process).links, number),
          visits: Context.get(stores, VisitStore)
        }
      })
      const router = this.#routerOf(parts, placement, yield* Effect.runtime<never>())
      const links = LinkStoreRouted.make(router)
      const visits = VisitStoreRouted.make(router)
      const { arrive } = Asks.carryingOf(control, process, this.#journal)
      const carryMessages = this.#carryMessages(process)
      const carryKeys = (database: VirtualDatabase) =>
        carryBy(
          { ...Asks.carryingOf(database, process, this.#journal, carriesTwice), arrive, lost: () => {} },
          keysMax
        )
      const further = databases.slice(1).map((database, index) => ({ database, ...parts[index + 1]! }))
      const carry = carryAll(parts[0]!, further, ({ database }) =>
        Effect.zipWith(carryMessages(database), carryKeys(database), (one, other) => one || other)
      )
      const ofControl = control.stores(process)
      const removals = LinkRemovalsRouted.make(
        this.#ownersRouterOf(router),
        control.owners(process).gone,
        Context.get(ofControl, LinkRemovals)
      )
      const stores = ofControl.pipe(
        Context.add(LinkStore, links),
        Context.add(GuardedCreates, GuardedCreatesRouted.make(router, links)),
        Context.add(LinkLifetime, LinkLifetimeRouted.make(router)),
        Context.add(LinkRemovals, removals),
        Context.add(VisitStore, {
          ...visits,
          write: noteWrites(this.#journal, process.id, visits.write, ({ writer }) => ({ writer }))
        }),
        Context.add(LinkPlaces, placesOf(parts, placement)),
        Context.add(LinkCarrier, { carry })
      )
      return { stores, changes: this.#changesOf(news, placement) }
    })
  }
}
