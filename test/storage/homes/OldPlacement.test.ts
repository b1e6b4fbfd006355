import { expect, it } from "@effect/vitest"
import { SqlClient } from "@effect/sql"
import { Context, Deferred, Effect, Fiber, type Scope } from "effect"
import { bucketCount, bucketOf, bucketOfName } from "../../../src/keys/Buckets.ts"
import { Direct } from "../../../src/fibers/Direct.ts"
import { subjectOfLink } from "../../../src/model/Visit.ts"
import { isRefused, LinkTenure, under } from "../../../src/storage/links/buckets/LinkTenure.ts"
import { abandon, begin, type Guard, guardTimes } from "../../../src/storage/links/GuardedCreates.ts"
import { StorageError } from "../../../src/storage/StorageError.ts"
import * as LinkPorts from "../../../src/storage/homes/LinkPorts.ts"
import type { KnownPlacement } from "../../../src/storage/homes/PlacementCache.ts"
import { describePostgres } from "../../support/services/postgres/Postgres.ts"
import { moveBuckets, type SeveralDatabases, severalDatabases } from "../../support/SeveralDatabases.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"

const everything = Array.from({ length: bucketCount }, (_, bucket) => bucket)

/** A node that knows a placement, and never reads it again unless it is refused. `hasRead` is done when it first has; `reading` is how it does. */
const knowing = (
  node: SeveralDatabases,
  placement: KnownPlacement,
  reading: SeveralDatabases["placement"]["read"] = node.placement.read
) =>
  Effect.gen(function* () {
    let known = placement
    let reads = 0
    const hasRead = yield* Deferred.make<void>()
    const read = Effect.tap(reading, (placement) => {
      reads++
      known = placement
      return Deferred.succeed(hasRead, undefined)
    })
    const ports = yield* LinkPorts.routed(node.databases, { ...node.placement, current: () => known, read })
    return { ...ports, reads: () => reads, hasRead: Deferred.await(hasRead) }
  })

/** What such a node is answered, having read the placement once. */
const askingBy =
  (node: SeveralDatabases, placement: KnownPlacement) =>
  <A, E>(ask: (node: Effect.Effect.Success<ReturnType<typeof knowing>>) => Effect.Effect<A, E>) =>
    Effect.gen(function* () {
      const asked = yield* knowing(node, placement)
      const answer = yield* ask(asked)
      expect(asked.reads()).toBe(1)
      return answer
    })

/** Has what can be had without a fiber in that way. */
const byCall = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  effect instanceof Direct
    ? Effect.async((resume) => (effect as Direct<A, E>).run(resume))
    : Effect.dieMessage("it needs a fiber")

/** Copies rows of links, guards and visits from one database to the other, as a move does. */
const copied = ({ databases: [from, to] }: SeveralDatabases) =>
  Effect.gen(function* () {
    for (const table of ["links", "create_guards", "visit_periods"]) {
      const rows = yield* from!.sql<{
        row: string
      }>`SELECT to_jsonb(t)::text AS row FROM ${from!.sql(table)} t`
      for (const { row } of rows) {
        yield* to!
          .sql`INSERT INTO ${to!.sql(table)} SELECT * FROM jsonb_populate_record(NULL::${to!.sql(table)}, ${row}::jsonb)`
      }
    }
  })

const toSecond = { from: 0, to: 1, buckets: everything }

/** A test of reads with spans, for which each database is read in a fiber, and without, as most nodes run. */
const eitherWay = <A, E>(name: string, body: () => Effect.Effect<A, E, Scope.Scope>) => {
  for (const isTraced of [true, false]) {
    it.scopedLive(isTraced ? name : `${name}, where nothing is traced`, () =>
      Effect.withTracerEnabled(body(), isTraced)
    )
  }
}

describePostgres("a node with an old placement, while another one knows where links are", () => {
  const open = severalDatabases(2, () => 0)

  eitherWay("is refused by the database, reads the placement again and goes on", () =>
    Effect.gen(function* () {
      const opening = yield* open
      const [mover, other] = [yield* opening, yield* opening]
      const before = other.placement.current()
      yield* other.links.insertMany([linkOf("before"), linkOf("deleted"), linkOf("changed")])
      yield* moveBuckets(mover, toSecond, Effect.orDie(copied(mover)))
      yield* mover.placement.read
      expect(yield* mover.links.insertMany([linkOf("after")])).toEqual([true])

      // What was made at the new home is found by one who looks for it at the old one.
      const reader = yield* knowing(other, before)
      expect(yield* reader.links.findMany(["after", "before"])).toEqual([linkOf("after"), linkOf("before")])
      expect(reader.reads()).toBe(1)
      const caller = yield* knowing(other, before)
      expect(yield* byCall(caller.links.findMany(["after", "before"]))).toEqual([
        linkOf("after"),
        linkOf("before")
      ])
      expect(yield* byCall(caller.links.findMany(["before", "none"]))).toEqual([linkOf("before"), null])
      expect(caller.reads()).toBe(1)
      for (const links of [[linkOf("called")], [{ ...linkOf("alias"), custom: true }, linkOf("before")]]) {
        const callerThatWrites = yield* knowing(other, before)
        const bound = yield* byCall(callerThatWrites.links.insertMany(links))
        expect(bound).toEqual(links.map(({ key }) => key !== "before"))
        expect(callerThatWrites.reads()).toBe(1)
      }
      const writer = yield* knowing(other, before)
      expect(yield* writer.links.insertMany([linkOf("new"), linkOf("before")])).toEqual([true, false])
      expect(writer.reads()).toBe(1)
      const deleter = yield* knowing(other, before)
      expect(yield* deleter.links.deleteMany([{ key: "deleted", at: 1 }])).toEqual([true])
      const lister = yield* knowing(other, before)
      const page = yield* lister.links.list({ order: "createdAt-asc", limit: 10, lookedAtMax: 100 })
      expect(page.links.map(({ key }) => key).toSorted()).toEqual([
        "after",
        "alias",
        "before",
        "called",
        "changed",
        "new"
      ])
      expect(page.isPartial).toBeUndefined()
      const keys = (at: number) =>
        Effect.map(other.databases[at]!.sql<{ key: string }>`SELECT key FROM links`, (rows) =>
          rows.map(({ key }) => key).toSorted()
        )
      expect(yield* keys(0)).toEqual(["before", "changed", "deleted"])
      expect(yield* keys(1)).toEqual(["after", "alias", "before", "called", "changed", "deleted", "new"])
      expect(yield* other.databases[0]!.sql`SELECT key FROM links WHERE deleted_at IS NOT NULL`).toEqual([])
    })
  )

  eitherWay(
    "does not take the visits of links for none that have left, nor the links for not crawlable",
    () =>
      Effect.gen(function* () {
        const opening = yield* open
        const [mover, other] = [yield* opening, yield* opening]
        const before = other.placement.current()
        const [first] = mover.databases.map(({ sql }) => sql)
        const link = { ...linkOf("visited"), crawlable: true }
        const subject = subjectOfLink(link)
        const values = [{ dimension: "countries", value: "SE", visits: 3 }] as const
        yield* mover.links.insertMany([link])
        yield* mover.visits.write({
          writer: "w",
          sequence: 1,
          at: 0,
          hours: [{ subject, hour: 3, nonBots: 2, bots: 1, values, visitors: [17] }]
        })
        yield* moveBuckets(mover, toSecond, Effect.orDie(copied(mover)))
        yield* first!`DELETE FROM links`
        yield* first!`DELETE FROM visit_periods`
        const asked = askingBy(other, before)
        const range = { subject, from: 0, to: 24 }
        const counts = [
          { nonBots: 2, bots: 1 },
          { nonBots: 0, bots: 0 }
        ]
        expect(yield* asked(({ visits }) => visits.totals([subject, `${subject}0`]))).toEqual(counts)
        expect(yield* asked(({ visits }) => byCall(visits.totals([subject, `${subject}0`])))).toEqual(counts)
        expect(yield* asked(({ visits }) => visits.series(range, "hour"))).toMatchObject([{ hour: 3 }])
        expect(yield* asked(({ visits }) => visits.top(range, 5))).toMatchObject([{ value: "SE" }])
        expect(yield* asked(({ visits }) => visits.visitors(range, "day"))).toMatchObject([{ hour: 0 }])
        expect(yield* asked(({ links }) => links.crawlable({ at: 5, limit: 5 }))).toEqual(["visited"])
      })
  )

  eitherWay("asks by the placement of the moment in which it asks, and no more when it is interrupted", () =>
    Effect.gen(function* () {
      const opening = yield* open
      const [mover, other] = [yield* opening, yield* opening]
      const before = other.placement.current()
      yield* other.links.insertMany([linkOf("before")])
      yield* moveBuckets(mover, toSecond, Effect.orDie(copied(mover)))
      const reader = yield* knowing(other, before)
      const later = reader.links.findMany(["before", "none"])
      expect(yield* reader.links.findMany(["before"])).toEqual([linkOf("before")])
      expect(yield* later).toEqual([linkOf("before"), null])
      expect(reader.reads()).toBe(1)

      const stuck = yield* knowing(other, before, Effect.succeed(before))
      const reading = yield* Effect.fork(stuck.links.findMany(["before"]))
      yield* stuck.hasRead
      yield* Fiber.interrupt(reading)
      const reads = stuck.reads()
      yield* Effect.sleep("200 millis")
      expect(stuck.reads()).toBe(reads)
    })
  )

  it.scopedLive("does not take an owner's links for gone that are at their new home", () =>
    Effect.gen(function* () {
      const opening = yield* open
      const [mover, other] = [yield* opening, yield* opening]
      const before = other.placement.current()
      const [first, second] = mover.databases.map(({ sql }) => sql)
      yield* mover.links.insertMany([{ ...linkOf("left"), owner: "usr_gone" }])
      yield* mover.removals.ask("usr_gone")
      yield* first!`UPDATE link_removals SET asked_at = 0`
      yield* moveBuckets(mover, toSecond, Effect.orDie(copied(mover)))
      yield* first!`DELETE FROM links`
      const remover = yield* knowing(other, before)
      expect(yield* remover.removals.remove(10)).toEqual(["left"])
      expect(yield* second!`SELECT key FROM links WHERE deleted_at IS NULL`).toEqual([])
      expect(yield* remover.removals.remove(10)).toEqual([])
      expect(yield* first!`SELECT owner FROM link_removals`).toEqual([])
    })
  )

  it.scopedLive("does not take an owner's links for gone that are in a database that is away", () =>
    Effect.gen(function* () {
      const node = yield* yield* open
      const [first] = node.databases.map(({ sql }) => sql)
      yield* moveBuckets(node, toSecond)
      yield* node.links.insertMany([{ ...linkOf("left"), owner: "usr_gone" }])
      yield* node.removals.ask("usr_gone")
      yield* first!`UPDATE link_removals SET asked_at = 0`
      let isAway = true
      const databases = node.databases.map((one, index) =>
        index === 1 ? { ...one, isAway: () => isAway } : one
      )
      const { removals } = yield* LinkPorts.routed(databases, node.placement)
      expect(yield* removals.remove(10)).toEqual([])
      isAway = false
      expect(yield* removals.remove(10)).toEqual(["left"])
      expect(yield* removals.remove(10)).toEqual([])
      expect(yield* first!`SELECT owner FROM link_removals`).toEqual([])
    })
  )

  it.scopedLive(
    "that was read while buckets were moved, asks again what it asked of all when they had moved",
    () =>
      Effect.gen(function* () {
        const opening = yield* open
        const [mover, other] = [yield* opening, yield* opening]
        const [first, second] = mover.databases.map(({ sql }) => sql)
        const whole = { ...linkOf("reused"), owner: "usr_1", createdAt: 2 }
        yield* mover.links.insertMany([
          { ...linkOf("listed"), owner: "usr_1", crawlable: true, createdAt: 1 },
          whole,
          { ...linkOf("left"), owner: "usr_gone", createdAt: 3 }
        ])
        expect(yield* mover.guarded.findByUrl("usr_1", whole.url, 5)).not.toBeNull()
        yield* mover.removals.ask("usr_gone")
        yield* first!`UPDATE link_removals SET asked_at = 0`
        const whileMoving = Effect.zipRight(copied(mover), other.placement.read)
        yield* moveBuckets(mover, toSecond, whileMoving)
        const before = other.placement.current()
        expect(before.leaving).toEqual(new Set([0]))
        yield* first!`DELETE FROM links`
        yield* first!`DELETE FROM url_indexed_owners`
        const list = { order: "createdAt-asc", limit: 2, lookedAtMax: 100 } as const
        const asked = askingBy(other, before)
        const page = yield* asked(({ links }) => links.list(list))
        expect(page.links.map(({ key }) => key)).toEqual(["listed", "reused"])
        expect(yield* asked(({ links }) => links.crawlable({ at: 5, limit: 5 }))).toEqual(["listed"])
        expect(yield* asked(({ guarded }) => guarded.findByUrl("usr_1", whole.url, 5))).toMatchObject({
          key: "reused"
        })
        expect(yield* asked(({ removals }) => removals.remove(10))).toEqual(["left"])
        expect(yield* second!`SELECT key FROM links WHERE deleted_at IS NULL ORDER BY key`).toEqual([
          { key: "listed" },
          { key: "reused" }
        ])
      })
  )

  eitherWay("cannot say that nothing was written where it was in part, and no placement can be read", () =>
    Effect.gen(function* () {
      const opening = yield* open
      const [mover, other] = [yield* opening, yield* opening]
      const [here, there] = [linkOf("a"), linkOf("b")]
      const away = { from: 0, to: 1, buckets: [bucketOf(there.key)] }
      expect(bucketOf(here.key)).not.toBe(bucketOf(there.key))
      yield* moveBuckets(mover, away)
      const before = yield* other.placement.read
      yield* moveBuckets(mover, { ...away, from: 1, to: 0 })
      const lost = new StorageError({ operation: "read", applied: "no", reason: "the connection failed" })
      const { links } = yield* knowing(other, before, lost)
      const { reason } = lost
      expect(yield* Effect.flip(links.insertMany([there]))).toMatchObject({ applied: "no", reason })
      expect(yield* Effect.flip(links.insertMany([here, there]))).toMatchObject({
        applied: "unknown",
        reason,
        outcomes: [
          { _tag: "Right", right: true },
          { _tag: "Left", left: { applied: "no", reason } }
        ]
      })
      expect(yield* mover.links.findMany(["a", "b"])).toEqual([here, null])
      expect(yield* Effect.flip(links.findMany(["a", "b"]))).toMatchObject({ applied: "no", reason })
    })
  )

  eitherWay("writes and reads nothing at the old home by itself", () =>
    Effect.gen(function* () {
      const opening = yield* open
      const mover = yield* opening
      const tenure = mover.placement.current().tenures[0]!
      const [{ links, sql }] = mover.databases as [LinkPorts.OneDatabase]
      yield* links.insertMany([linkOf("a")])
      yield* moveBuckets(mover, toSecond)
      const deleting = links.deleteMany([{ key: "a", at: 1 }])
      for (const attempt of [
        Effect.asVoid(links.insertMany([linkOf("b")])),
        Effect.asVoid(links.findMany(["a"])),
        Effect.asVoid(links.takenAmong(["a"])),
        Effect.asVoid(under(sql, "test", tenure, deleting))
      ]) {
        const failed = yield* Effect.flip(Effect.provideService(attempt, LinkTenure, tenure))
        expect(failed).toSatisfy(isRefused)
        expect(failed).toMatchObject({ applied: "no" })
      }
      expect(yield* sql`SELECT key, deleted_at FROM links`).toEqual([{ key: "a", deleted_at: null }])
    })
  )

  it.scopedLive("a transaction that began before is waited for, and none begins after", () =>
    Effect.gen(function* () {
      const opening = yield* open
      const [mover, other] = [yield* opening, yield* opening]
      const tenure = other.placement.current().tenures[0]!
      const { links, sql } = other.databases[0]!
      const events: Array<string> = []
      const hasBegun = yield* Deferred.make<void>()
      const isRaised = Effect.repeat(
        mover.databases[0]!.sql<{ epoch: number }>`SELECT epoch FROM link_epoch`,
        {
          until: ([row]) => row!.epoch === 1
        }
      )
      const fiber = yield* Effect.forkDaemon(
        under(
          sql,
          "test",
          tenure,
          Effect.gen(function* () {
            yield* Deferred.succeed(hasBegun, undefined)
            yield* Effect.mapInputContext(isRaised, (context: Context.Context<never>) =>
              Context.omit(SqlClient.TransactionConnection)(context as never)
            )
            yield* links.deleteMany([{ key: "none", at: 1 }])
            events.push("committing")
          })
        )
      )
      yield* Deferred.await(hasBegun)
      yield* moveBuckets(mover, toSecond)
      events.push("moved")
      yield* Fiber.join(fiber)
      expect(events).toEqual(["committing", "moved"])
      expect(yield* Effect.flip(under(sql, "test", tenure, Effect.void))).toSatisfy(isRefused)
    })
  )

  it.scopedLive("what is written to a bucket that is being moved waits for the end of the move", () =>
    Effect.gen(function* () {
      const opening = yield* open
      const [mover, other] = [yield* opening, yield* opening]
      const old = yield* knowing(other, other.placement.current())
      const fibers: Array<Fiber.RuntimeFiber<ReadonlyArray<boolean>, unknown>> = []
      yield* moveBuckets(
        mover,
        toSecond,
        Effect.gen(function* () {
          fibers.push(yield* Effect.forkDaemon(old.links.insertMany([linkOf("waiting")])))
          // It was refused, and knows now that its bucket is being moved.
          yield* old.hasRead
        })
      )
      expect(yield* Fiber.join(fibers[0]!)).toEqual([true])
      const keys = (at: number) => other.databases[at]!.sql`SELECT key FROM links`
      expect([yield* keys(0), yield* keys(1)]).toEqual([[], [{ key: "waiting" }]])
    })
  )

  eitherWay(
    "what is read in a bucket that is being moved is read at its new home where it is there by then",
    () =>
      Effect.gen(function* () {
        const opening = yield* open
        const [mover, other] = [yield* opening, yield* opening]
        yield* mover.store.begin(toSecond)
        const reader = yield* knowing(other, yield* other.placement.read)
        yield* mover.store.end(toSecond)
        yield* mover.placement.read
        yield* mover.links.insertMany([linkOf("after")])
        expect(yield* reader.links.findMany(["after"])).toEqual([linkOf("after")])
      })
  )

  eitherWay("is read again where its bucket has moved and come back before that is known", () =>
    Effect.gen(function* () {
      const opening = yield* open
      const [mover, other] = [yield* opening, yield* opening]
      const { databases, store } = mover
      const [first, second] = [databases[0]!.links, databases[1]!.links]
      const back = { ...toSecond, from: 1, to: 0 }
      const list = { order: "createdAt-asc", limit: 2, lookedAtMax: 100 } as const
      const asked = <A, E>(
        ask: (node: Effect.Effect.Success<ReturnType<typeof knowing>>) => Effect.Effect<A, E>
      ) =>
        Effect.gen(function* () {
          yield* store.begin(toSecond)
          const before = yield* other.placement.read
          const moved = Effect.gen(function* () {
            yield* store.end(toSecond)
            yield* moveBuckets(mover, back, Effect.orDie(first.insertMany([linkOf("left")])))
          })
          let hasMoved = false
          const reading = Effect.suspend(() =>
            hasMoved
              ? other.placement.read
              : ((hasMoved = true), Effect.zipRight(Effect.orDie(moved), other.placement.read))
          )
          yield* databases[0]!.sql`DELETE FROM links`
          return yield* ask(yield* knowing(other, before, reading))
        })
      yield* second.insertMany([linkOf("left")])
      expect(yield* asked(({ links }) => links.findMany(["left"]))).toEqual([linkOf("left")])
      const page = yield* asked(({ links }) => links.list(list))
      expect(page.links).toEqual([linkOf("left")])
    })
  )
})

describePostgres("a create whose guard is in another database than its alias", () => {
  // The alias `there` is in database 1, and all guards are in database 0.
  const open = severalDatabases(2, (bucket) => (bucket === bucketOf("there") ? 1 : 0))
  const guard = (token: number): Guard => ({ name: "idempotency:a", token })
  const beginning = (token: number, lease_ms = 3_600_000) => ({
    ...guard(token),
    ...guardTimes,
    lease_ms,
    fingerprint: "body"
  })
  const alias = { ...linkOf("there"), custom: true }
  const bind = (token: number) => ({ link: alias, guards: [guard(token)], answer: "the answer" })

  eitherWay("is settled with its link, and repeats have its answer", () =>
    Effect.gen(function* () {
      const { guarded, links } = yield* Effect.flatten(open)
      expect(yield* begin(guarded, beginning(1))).toEqual({ _tag: "Begun" })
      expect(yield* guarded.bindMany([bind(1)])).toEqual(["bound"])
      expect(yield* begin(guarded, beginning(2))).toMatchObject({ _tag: "Settled", answer: "the answer" })
      expect(yield* links.findMany(["there"])).toEqual([alias])
    })
  )

  it.scopedLive("is answered by whoever begins it again, if it died before its guard was settled", () =>
    Effect.gen(function* () {
      const { databases, guarded } = yield* Effect.flatten(open)
      yield* begin(guarded, beginning(1, 0))
      expect(yield* guarded.bindMany([bind(1)])).toEqual(["bound"])
      // As if the settlement had not come that far.
      yield* databases[0]!.sql`UPDATE create_guards SET answer = NULL`
      expect(yield* begin(guarded, beginning(2, 0))).toEqual({ _tag: "Begun" })
      expect(yield* guarded.bindMany([bind(2)])).toEqual(["superseded"])
      expect(yield* begin(guarded, beginning(3))).toMatchObject({ _tag: "Settled", answer: "the answer" })
    })
  )

  it.scopedLive("gives that answer to no create of another body: its alias is taken", () =>
    Effect.gen(function* () {
      const { databases, guarded } = yield* Effect.flatten(open)
      const asking = (token: number, fingerprint: string) => ({ ...beginning(token, 0), fingerprint })
      const bindAs = (token: number, fingerprint: string) =>
        guarded.bindMany([{ ...bind(token), guards: [{ ...guard(token), fingerprint }] }])
      yield* begin(guarded, asking(1, "body"))
      expect(yield* bindAs(1, "body")).toEqual(["bound"])
      // A failover has forgotten it.
      yield* databases[0]!.sql`DELETE FROM create_guards`
      yield* begin(guarded, asking(2, "another body"))
      expect(yield* bindAs(2, "another body")).toEqual(["taken"])
      expect(yield* begin(guarded, asking(3, "body"))).toEqual({ _tag: "Begun" })
      expect(yield* bindAs(3, "body")).toEqual(["superseded"])
      expect(yield* begin(guarded, asking(4, "body"))).toMatchObject({ answer: "the answer" })
    })
  )

  it.scopedLive("has that answer also where the alias has come into its guard's database since", () =>
    Effect.gen(function* () {
      const node = yield* Effect.flatten(open)
      const { databases, guarded } = node
      yield* begin(guarded, beginning(1, 0))
      expect(yield* guarded.bindMany([bind(1)])).toEqual(["bound"])
      yield* databases[0]!.sql`UPDATE create_guards SET answer = NULL`
      const there = { buckets: [bucketOf("there")], from: 1, to: 0 }
      yield* moveBuckets(node, there, copied({ ...node, databases: [databases[1]!, databases[0]!] }))
      yield* node.placement.read
      expect(yield* begin(guarded, beginning(2, 0))).toEqual({ _tag: "Begun" })
      expect(yield* guarded.bindMany([bind(2)])).toEqual(["superseded"])
      expect(yield* begin(guarded, beginning(3))).toMatchObject({ _tag: "Settled", answer: "the answer" })
      yield* databases[1]!.sql`DELETE FROM links`
      yield* moveBuckets(node, { ...there, from: 0, to: 1 })
      yield* node.placement.read
    })
  )

  eitherWay("has no answer before its guard is settled, which is tried three times", () =>
    Effect.gen(function* () {
      const node = yield* Effect.flatten(open)
      const lost = new StorageError({ operation: "settle", applied: "no", reason: "the connection failed" })
      /** The same databases, of which that of the guard does not answer so many settlements. */
      const failing = (times: number) => {
        let left = times
        const [first, ...others] = node.databases
        const guarded: LinkPorts.OneDatabase["guarded"] = {
          ...first!.guarded,
          settleMany: (some) => Effect.suspend(() => (left-- > 0 ? lost : first!.guarded.settleMany(some)))
        }
        return LinkPorts.routed([{ ...first!, guarded }, ...others], node.placement)
      }
      const { guarded: without } = yield* failing(Number.POSITIVE_INFINITY)
      yield* begin(without, beginning(1, 0))
      expect(yield* without.bindMany([bind(1)])).toEqual(["superseded"])
      const { guarded } = yield* failing(2)
      expect(yield* begin(guarded, beginning(2, 0))).toEqual({ _tag: "Begun" })
      expect(yield* guarded.bindMany([bind(2)])).toEqual(["superseded"])
      expect(yield* begin(guarded, beginning(3))).toMatchObject({ _tag: "Settled", answer: "the answer" })
      expect(yield* node.links.findMany(["there"])).toEqual([alias])
    })
  )

  it.scopedLive("that was given up while it was bound has the answer, before its repeat begins", () =>
    Effect.gen(function* () {
      const { guarded } = yield* Effect.flatten(open)
      yield* begin(guarded, beginning(1))
      expect(yield* abandon(guarded, guard(1))).toBe(true)
      expect(yield* guarded.bindMany([bind(1)])).toEqual(["bound"])
      expect(yield* begin(guarded, beginning(2))).toMatchObject({ _tag: "Settled", answer: "the answer" })
    })
  )

  it.scopedLive("that was given up while it was bound has no answer while its repeat has the guard", () =>
    Effect.gen(function* () {
      const { databases, guarded } = yield* Effect.flatten(open)
      yield* begin(guarded, beginning(1))
      // The first has begun its substitute, and not bound its link.
      yield* databases[1]!.guarded.beginMany([{ ...beginning(1), name: "idempotency:a@there" }])
      yield* abandon(guarded, guard(1))
      expect(yield* begin(guarded, beginning(2))).toEqual({ _tag: "Begun" })
      expect(yield* guarded.bindMany([bind(2)])).toEqual(["superseded"])
      expect(yield* guarded.bindMany([bind(1)])).toEqual(["superseded"])
      // The repeat gives it up as well, and the next one meets the substitute.
      expect(yield* abandon(guarded, guard(2))).toBe(true)
      expect(yield* begin(guarded, beginning(3))).toEqual({ _tag: "Begun" })
      expect(yield* guarded.bindMany([bind(3)])).toEqual(["superseded"])
      expect(yield* begin(guarded, beginning(4))).toMatchObject({ _tag: "Settled", answer: "the answer" })
    })
  )

  it.scopedLive("has its answer where its guard was settled, and that was not told", () =>
    Effect.gen(function* () {
      const node = yield* Effect.flatten(open)
      const lost = new StorageError({
        operation: "settle",
        applied: "unknown",
        reason: "the connection failed"
      })
      let times = 0
      const [first, ...others] = node.databases
      const guards: LinkPorts.OneDatabase["guarded"] = {
        ...first!.guarded,
        settleMany: (some) =>
          Effect.flatMap(first!.guarded.settleMany(some), (settled) =>
            times++ === 0 ? Effect.fail(lost) : Effect.succeed(settled)
          )
      }
      const { guarded } = yield* LinkPorts.routed([{ ...first!, guarded: guards }, ...others], node.placement)
      yield* begin(guarded, beginning(1))
      expect(yield* guarded.bindMany([bind(1)])).toEqual(["bound"])
      expect(times).toBe(2)
    })
  )

  eitherWay("fails alone, beside others of its batch that are bound", () =>
    Effect.gen(function* () {
      const node = yield* Effect.flatten(open)
      const lost = new StorageError({ operation: "begin", applied: "no", reason: "the connection failed" })
      const key = ["one", "two"].find((key) => key !== "there" && bucketOf(key) !== bucketOf("there"))!
      const other = { name: "idempotency:b", token: 1 }
      const third = { name: "idempotency:c", token: 1 }
      const taken = { ...linkOf("taken"), custom: true }
      yield* node.links.insertMany([{ ...taken, createId: 7 }])
      yield* begin(node.guarded, beginning(1))
      yield* begin(node.guarded, { ...beginning(1), ...other })
      yield* begin(node.guarded, { ...beginning(1), ...third })
      // No substitute of a guard can be begun: neither for an alias elsewhere, nor for one that is taken.
      const databases = node.databases.map((one) => ({
        ...one,
        guarded: { ...one.guarded, beginMany: () => lost }
      }))
      const { guarded } = yield* LinkPorts.routed(databases, node.placement)
      const batch = [
        { link: taken, guards: [third], answer: "none" },
        { link: linkOf(key), guards: [other], answer: "another answer" },
        bind(1)
      ]
      const failure = { _tag: "Left", left: { applied: "no", reason: lost.reason } }
      expect(yield* Effect.flip(guarded.bindMany(batch))).toMatchObject({
        applied: "unknown",
        outcomes: [failure, { _tag: "Right", right: "bound" }, failure]
      })
      expect(yield* node.links.findMany([key, "there"])).toEqual([linkOf(key), null])
      expect(yield* node.guarded.bindMany(batch)).toEqual(["taken", "bound", "bound"])
    })
  )

  it.scopedLive("that was taken over cannot bind its link any more", () =>
    Effect.gen(function* () {
      const { databases, guarded } = yield* Effect.flatten(open)
      yield* begin(guarded, beginning(1, 0))
      yield* begin(guarded, beginning(2, 0))
      // The second has begun its substitute, and not bound its link.
      yield* databases[1]!.guarded.beginMany([{ ...beginning(2), name: "idempotency:a@there" }])
      expect(yield* guarded.bindMany([bind(1)])).toEqual(["superseded"])
      expect(yield* guarded.bindMany([bind(2)])).toEqual(["bound"])
    })
  )

  it.scopedLive("leaves its guard open where its alias is taken", () =>
    Effect.gen(function* () {
      const { databases, guarded, links } = yield* Effect.flatten(open)
      yield* links.insertMany([{ ...linkOf("there"), createId: 7 }])
      yield* begin(guarded, beginning(1))
      expect(yield* guarded.bindMany([bind(1)])).toEqual(["taken"])
      expect(yield* begin(guarded, beginning(2))).toMatchObject({ _tag: "Running" })
      // And no substitute.
      expect(yield* databases[1]!.sql`SELECT name FROM create_guards`).toEqual([])
    })
  )
})

describePostgres("a create with a minted key whose guard is moved", () => {
  const open = severalDatabases(2, () => 0)
  const guard: Guard = { name: "idempotency:a", token: 1 }
  const bucket = bucketOfName(guard.name)
  const key = ["one", "two"].find((one) => bucketOf(one) !== bucket)!
  const bind = { link: linkOf(key), guards: [guard], answer: "the answer" }
  const beginning = { ...guard, ...guardTimes, fingerprint: "body" }
  const toSecond = { from: 0, to: 1, buckets: [bucket] }

  eitherWay("is not bound without it: a repeat would have another key, and a link of its own", () =>
    Effect.gen(function* () {
      const opening = yield* open
      const [mover, other] = [yield* opening, yield* opening]
      const before = other.placement.current()
      const creator = yield* knowing(other, before)
      yield* begin(creator.guarded, beginning)
      yield* moveBuckets(mover, toSecond, Effect.orDie(copied(mover)))
      expect(yield* creator.guarded.bindMany([bind])).toEqual(["apart"])
      expect(creator.reads()).toBe(1)
      expect(yield* other.links.findMany([key])).toEqual([null])
      expect(yield* begin(creator.guarded, { ...beginning, token: 2 })).toMatchObject({ _tag: "Running" })
    })
  )

  eitherWay("waits for the end of the move", () =>
    Effect.gen(function* () {
      const opening = yield* open
      const [mover, other] = [yield* opening, yield* opening]
      yield* begin(other.guarded, beginning)
      yield* mover.store.begin(toSecond)
      const creator = yield* knowing(other, yield* other.placement.read)
      const creating = yield* Effect.fork(creator.guarded.bindMany([bind]))
      yield* creator.hasRead
      expect(yield* other.links.findMany([key])).toEqual([null])
      yield* mover.store.end(toSecond)
      expect(yield* Fiber.join(creating)).toEqual(["apart"])
      expect(yield* other.links.findMany([key])).toEqual([null])
    })
  )
})
