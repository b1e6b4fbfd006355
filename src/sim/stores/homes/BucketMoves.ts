import { Effect } from "effect"
import { bucketOf } from "../../../keys/Buckets.ts"
import type { Move } from "../../../storage/links/buckets/BucketPlacement.ts"
import type { Step } from "../../../storage/links/moves/BucketMoveLog.ts"
import { StorageError } from "../../../storage/StorageError.ts"
import { fork } from "../../world/ProcessServices.ts"
import { ms_us } from "../../world/Time.ts"
import type { VirtualProcess } from "../../world/VirtualProcess.ts"
import type { World } from "../../world/World.ts"
import { query, statement } from "../database/Transactions.ts"
import type { Tables } from "../DatabaseCopy.ts"
import type { VirtualDatabase } from "../VirtualDatabase.ts"
import * as VisitStoreMemory from "../VisitStoreMemory.ts"
import * as Asks from "./Asks.ts"
import { movedOf, Replication } from "./Replication.ts"

/** What can be broken about several databases, and about moves between them. */
export interface MoveDefects {
  /** An insert that is refused because of an old epoch is answered as if it had been done. */
  readonly refusalsAreAnswers?: boolean
  /** Keys that are free again do not leave their database when they are carried. */
  readonly carriesTwice?: boolean
  /** Only the control database is asked for a link of a URL. */
  readonly looksInOne?: boolean
  /** The links of owners who are gone are looked for in the control database alone. */
  readonly removesInOne?: boolean
  /** A database that does not answer whether owners who are gone have links there counts as one without any. */
  readonly takesSilenceForNone?: boolean
  /** What is asked of all databases is not asked again where buckets have moved meanwhile. */
  readonly gathersOnce?: boolean
  /** What was read is not confirmed to have been at home there. */
  readonly confirmsNothing?: boolean
  /** Caches keep what they have when buckets come to another home. */
  readonly keepsCached?: boolean
  /** Nodes do not hear from databases that buckets have left. */
  readonly epochsUnheard?: boolean
  /** A node goes by the control database alone where it asks whether the one that has a link is away. */
  readonly asksControlAlone?: boolean
  /** Messages for webhooks are deleted from their database before they are queued in the control database. */
  readonly removesUnqueued?: boolean
  /** Nothing keeps nodes that have an old placement from writing: neither the epoch nor the source's barrier. */
  readonly isUnfenced?: boolean
  /** The buckets are switched over with what the target had when it was copied. */
  readonly switchesUncopied?: boolean
  /** The rows are deleted from the source before the buckets are switched over. */
  readonly deletesBeforeSwitch?: boolean
}

/** A move as the control database remembers it. */
interface LoggedMove extends Move {
  readonly id: number
  readonly step: Step | "done"
}

/** Where a mover can be killed, in this order: places of `BucketMover`'s, which has some more. */
export const movePlaces = [
  "the target has its barrier",
  "the source has its barrier",
  "the next step is copy",
  "the rows are copied",
  "the next step is compare",
  "the next step is fence",
  "the buckets are marked as moving",
  "the epoch is raised",
  "the source's barrier is closed",
  "the target has all changes",
  "the next step is switch",
  "the target's barrier is open",
  "the buckets are at home in the target",
  "the next step is detach",
  "the replication has ended",
  "the next step is verify",
  "the next step is delete",
  "rows of create_guards are deleted",
  "rows of links are deleted",
  "rows of link_ranks are deleted",
  "rows of visit_periods are deleted",
  "the barrier is gone",
  "the next step is done"
] as const

/** What surrounds the moves. */
export interface MoveOptions {
  readonly world: World
  readonly databases: ReadonlyArray<VirtualDatabase>
  readonly defects: MoveDefects
  /** Whether a mover is killed at a place that it has come to. */
  readonly isKilled: (place: string) => boolean
}

/** How often a mover looks whether changes have arrived. */
const look = "20 millis"

/** How long a mover waits for them while the buckets are fenced, before it gives up; the next one goes on. */
const fencedWait = "60 seconds"

/** The pause before the next mover begins: the session of a dead one is over by then. */
const lockWait_us = 1_000 * ms_us

/** Rows that are deleted at once: few, so that there are several steps. */
const deletedAtOnce = 20

/**
 * Moves of buckets, one at a time, each by a process of its own that can be killed at any step and is followed by another one, which goes on there.
 *
 * `BucketMover` cannot run in here: it is made of PostgreSQL's replication, triggers, locks and catalogues. This goes through its steps (`BucketMoveLog.steps`) and places in its order, with a log, an
 * epoch, barriers and leftovers that mean the same, over the simulated servers; its laws are those of `BucketMover`, whose tests hold it to {@link movePlaces}. It does not roll up visits, and cannot be
 * undone. The placement is held to the laws of `BucketPlacement`.
 */
export class BucketMoves {
  readonly #options: MoveOptions
  #move: LoggedMove | undefined
  #replication: Replication | undefined
  readonly #moves: Array<Move> = []
  #movers = 0
  #mover: VirtualProcess | undefined

  constructor(options: MoveOptions) {
    this.#options = options
  }

  /** Whether a move is not finished. */
  get isUnderWay(): boolean {
    return this.#move !== undefined && this.#move.step !== "done"
  }

  /** The numbers of the databases that have had a bucket, or were to get it: all that moves have to do with. */
  homesOf(bucket: number): ReadonlyArray<number> {
    return this.#moves.flatMap(({ buckets, from, to }) => (buckets.includes(bucket) ? [from, to] : []))
  }

  /** Begins to move buckets, unless some are being moved. A mover that dies or fails is followed by another one after `down_us`. */
  begin(wanted: Move, down_us: () => number) {
    if (this.isUnderWay) return
    this.#moves.push(wanted)
    this.#move = { ...wanted, id: this.#moves.length, step: "prepare" }
    this.#run(down_us)
  }

  /** Has a mover go on at once, and others soon where it fails. */
  hurry() {
    if (!this.isUnderWay) return
    this.#mover?.kill()
    this.#mover = undefined
    this.#run(() => lockWait_us)
  }

  #run(down_us: () => number) {
    const { world } = this.#options
    const mover = world.spawn("mover", ++this.#movers)
    this.#mover = mover
    const { from, id, step, to } = this.#move!
    world.tell(mover.id, "starts", `move ${id} from ${from} to ${to}, at ${step}`)
    const follow = () => {
      if (this.#mover !== mover) return
      this.#mover = undefined
      if (!this.isUnderWay) return
      world.after(Math.max(lockWait_us, down_us()), null, () => {
        if (this.#mover === undefined && this.isUnderWay) this.#run(down_us)
      })
    }
    mover.whenDead(follow)
    fork(mover, Effect.ignore(this.#finish(mover))).addObserver(() => mover.kill())
  }

  /** Does what is left of the move. */
  #finish(mover: VirtualProcess): Effect.Effect<void, StorageError> {
    const { databases, defects, isKilled, world } = this.#options
    const [from, to] = [databases[this.#move!.from]!, databases[this.#move!.to]!]
    const control = databases[0]!
    const placement = Asks.placementOf(control, mover)
    const { buckets, id } = this.#move!
    const whole = new Set(buckets)

    /** Something has been done. */
    const at = (place: (typeof movePlaces)[number]) =>
      Effect.suspend(() => {
        world.tell(mover.id, "moved", place)
        if (!isKilled(place)) return Effect.void
        world.tell("faults", "mover crash", `${mover.id}, when ${place}`)
        mover.kill()
        return Effect.never
      })
    const ask = <A>(database: VirtualDatabase, what: string, apply: (tables: Tables) => A) =>
      database.ask(mover, `BucketMover.${what}`, statement(), apply)
    const next = (step: Exclude<LoggedMove["step"], "prepare">) =>
      Effect.zipRight(
        ask(control, "log", () => {
          // By the session that has the lock.
          if (this.#mover === mover) this.#move = { ...this.#move!, step }
        }),
        at(`the next step is ${step}`)
      )
    /** Changes a barrier by several statements of one client: one that is dead by the time the database comes to them does not send the rest, and the barrier stays as it is. */
    const ofBarrier = (database: VirtualDatabase, change: (barriers: Tables["home"]["barriers"]) => void) =>
      ask(database, "barrier", ({ home: { barriers } }) => {
        if (mover.isAlive) change(barriers)
      })
    const barrier = (database: VirtualDatabase, isClosed: boolean, builds = false) =>
      ofBarrier(database, (barriers) => {
        if (builds !== barriers.has(id)) barriers.set(id, { buckets: whole, isClosed })
      })
    const withoutBarrier = (database: VirtualDatabase) =>
      ofBarrier(database, (barriers) => barriers.delete(id))
    const stopped = new StorageError({ operation: "BucketMover", applied: "no", reason: "it has stopped" })

    /** The target has all that is committed when this begins. */
    const caughtUp = Effect.suspend(() => {
      const replication = this.#replication!
      const { mark } = replication
      const isThere = to.ask(mover, "BucketMover.look", query, () => replication.isPassed(mark))
      return Effect.repeat(Effect.delay(isThere, look), { until: (isPassed) => isPassed })
    })

    const unsubscribed = ask(to, "unsubscribe", () => {
      this.#replication?.end()
      this.#replication = undefined
    })

    const prepare = Effect.gen(this, function* () {
      yield* ask(to, "frees", ({ home: { freed } }) => {
        if (!freed.has(id)) freed.set(id, new Set())
      })
      yield* barrier(to, true, true)
      yield* at("the target has its barrier")
      yield* barrier(from, false, true)
      yield* at("the source has its barrier")
      yield* ask(to, "subscribe", () => {
        this.#replication ??= new Replication(from, to, buckets)
      })
    })

    const fence = Effect.gen(function* () {
      if (!(yield* placement.begin({ buckets, from: from.number, to: to.number }))) return yield* stopped
      yield* at("the buckets are marked as moving")
      const epoch = (yield* placement.read).epochs.get(from.number)!
      yield* ask(from, "raise", ({ home }) => {
        home.epoch = Math.max(home.epoch, epoch)
      })
      yield* at("the epoch is raised")
      if (defects.isUnfenced !== true) yield* barrier(from, true)
      yield* at("the source's barrier is closed")
      if (defects.switchesUncopied !== true)
        yield* Effect.timeoutFail(caughtUp, { duration: fencedWait, onTimeout: () => stopped })
      yield* at("the target has all changes")
    })

    const switchOver = Effect.gen(function* () {
      // Hours of the links that have arrived may not have been ranked where they come from.
      yield* ask(to, "rank again", ({ visits }) => VisitStoreMemory.rankAgain(visits))
      yield* barrier(to, false)
      yield* at("the target's barrier is open")
      if (!(yield* placement.end({ buckets, from: from.number, to: to.number }))) return yield* stopped
      yield* at("the buckets are at home in the target")
    })

    /** Whether the target has the links of the source, but those that it has freed since. Guards are dropped too soon in the simulation to tell. */
    const verify = Effect.gen(function* () {
      const keys = yield* from.ask(mover, "BucketMover.read", query, ({ ended, rows }) =>
        Array.from(rows.keys()).filter((key) => !ended.has(key) && whole.has(bucketOf(key)))
      )
      const isWhole = yield* to.ask(mover, "BucketMover.read", query, ({ home: { freed }, rows }) =>
        keys.every((key) => rows.has(key) || freed.get(id)?.has(key))
      )
      if (!isWhole) {
        world.tell(mover.id, "stops", "rows of the source are not in the target")
        return yield* stopped
      }
    })

    const deleteRows = Effect.gen(function* () {
      yield* ask(from, "leftovers", ({ home }) => {
        if (home.barriers.has(id) || defects.deletesBeforeSwitch === true) home.leftovers.add(id)
      })
      for (const table of ["create_guards", "links", "link_ranks", "visit_periods"] as const) {
        let isMore = true
        while (isMore) {
          isMore = yield* ask(from, "delete", (tables) => {
            if (!tables.home.leftovers.has(id)) return false
            let left = deletedAtOnce
            for (const { bucketOf: bucketOfRow, name, rows } of movedOf(tables))
              for (const key of Array.from(rows.keys()))
                if (left > 0 && name === table && whole.has(bucketOfRow(key))) {
                  rows.delete(key)
                  left--
                }
            return left === 0
          })
          yield* at(`rows of ${table} are deleted`)
        }
      }
    })

    const steps: ReadonlyArray<
      readonly [Step, Effect.Effect<unknown, StorageError>, Parameters<typeof next>[0]]
    > = [
      ["prepare", prepare, "copy"],
      ["copy", Effect.zipRight(caughtUp, at("the rows are copied")), "compare"],
      ["compare", defects.switchesUncopied === true ? unsubscribed : caughtUp, "fence"],
      ["fence", fence, "switch"],
      [
        "switch",
        defects.deletesBeforeSwitch === true
          ? Effect.zipRight(this.#deletion(deleteRows), switchOver)
          : switchOver,
        "detach"
      ],
      [
        "detach",
        unsubscribed.pipe(
          Effect.zipRight(at("the replication has ended")),
          Effect.zipRight(withoutBarrier(to))
        ),
        "verify"
      ],
      ["verify", verify, "delete"],
      [
        "delete",
        deleteRows.pipe(
          Effect.zipRight(withoutBarrier(from)),
          Effect.zipRight(at("the barrier is gone")),
          Effect.zipRight(ask(from, "leftovers", ({ home }) => home.leftovers.delete(id))),
          Effect.zipRight(ask(to, "frees", ({ home }) => home.freed.delete(id)))
        ),
        "done"
      ]
    ]
    return Effect.forEach(
      steps,
      ([step, run, following]) =>
        Effect.suspend(() =>
          this.#move!.step === step ? Effect.zipRight(run, next(following)) : Effect.void
        ),
      { discard: true }
    )
  }

  /** What is deleted too early is not replicated any more: else the target would lose it, too. */
  #deletion<E>(rows: Effect.Effect<void, E>): Effect.Effect<void, E> {
    return Effect.zipRight(
      Effect.sync(() => this.#replication?.end()),
      rows
    )
  }
}
