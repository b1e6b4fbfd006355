// A node that stands still at a statement of our choice, inside its transaction.

import { Effect, Schedule } from "effect"
import { Unavailable } from "../test/support/services/Service.ts"
import * as Checks from "./Checks.ts"
import * as Client from "./Client.ts"
import type { Done } from "./Done.ts"
import { type FreezeKind, frozenAt } from "./FaultKind.ts"
import { inDatabase } from "./Stores.ts"
import type { Node } from "./Topology.ts"
import type { Caught } from "./Wire.ts"
import type { Froze, World } from "./World.ts"

/** How long a statement of a kind may be waited for: on a busy machine a pool is refilled once in a minute. */
const aimMax = "3 minutes"

/** Each other node has a visit so often, and it is looked so often whether they are counted. */
const visitEvery_ms = 1_000
const lookEvery_ms = 200

/** A visit has its answer within this: what is given up may count or not. */
const visitMax_ms = 60_000

/** Stops the first node that carries out a statement like `pattern`, at that moment. */
const freezeOne = ({ topology: { nodes } }: World, pattern: RegExp) =>
  Effect.async<{ readonly node: Node; readonly caught: Caught }>((resume) => {
    const disarm = () => nodes.forEach(({ wires }) => wires.catchNext(null))
    for (const node of nodes) {
      node.wires.catchNext(pattern, (caught) => {
        process.kill(node.pid(), "SIGSTOP")
        disarm()
        resume(Effect.succeed({ node, caught }))
      })
    }
    return Effect.sync(disarm)
  }).pipe(Effect.timeoutOption(aimMax))

/** What PostgreSQL calls a session that waits for the next statement of its transaction. */
const inTransaction = "idle in transaction"

/** What the server says of the session in which the node stands still. */
const stateOf = (world: World, port: number) =>
  inDatabase(world.topology, (sql) =>
    Effect.map(
      sql<{ state: string }>`SELECT state FROM pg_stat_activity WHERE client_port = ${port}`,
      ([row]) => row?.state ?? "gone"
    )
  ).pipe(Effect.orElseSucceed(() => "unknown"))

/** What PostgreSQL says where it has no connection left. Any other failure to ask is one of a busy machine, and tells nothing. */
const tooMany = /too many clients|remaining connection slots/

const backendsOf = (world: World) =>
  inDatabase(world.topology, (sql) =>
    Effect.map(
      sql<{ count: number }>`SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE application_name LIKE 'linkmint%' AND application_name <> 'linkmint-chaos'`,
      ([row]) => row!.count
    )
  )

/** For how long visits were not counted, where they are in the order in which they came. Times are milliseconds of one clock. */
export class Counted {
  readonly #visits: Array<number> = []
  #longest = 0

  /** How many there were. */
  get visits(): number {
    return this.#visits.length
  }

  /** Notes a visit. */
  visited(at: number): void {
    this.#visits.push(at)
  }

  /** Notes how many are counted. Gives whether all are. */
  saw(count: number, at: number): boolean {
    const oldest = this.#visits[count]
    if (oldest !== undefined) this.#longest = Math.max(this.#longest, at - oldest)
    return oldest === undefined
  }

  /** The longest time that one was not. */
  get longest_ms(): number {
    return Math.round(this.#longest)
  }
}

const visitsOf = async (client: Client.Client, { topology, visitedKey }: World): Promise<number | null> => {
  const path = `/api/v1/links/${visitedKey}`
  const answer = await client.ask({
    method: "GET",
    path,
    requestId: "chaos-visits",
    apiKey: topology.adminKey
  })
  if (answer.status !== 200) return null
  return (JSON.parse(answer.body) as { readonly visits: { readonly total: number } }).visits.total
}

/** The visits so far, of which none is under way. */
const visitsBefore = (world: World) =>
  Effect.acquireUseRelease(
    Effect.sync(() => Client.make(world.topology.port)),
    (client) => Effect.promise(() => visitsOf(client, world)),
    (client) => Effect.sync(() => client.close())
  ).pipe(
    Effect.filterOrFail(
      (visits) => visits !== null,
      () => new Unavailable({ reason: "The visits of a link cannot be read" })
    ),
    Effect.retry({ times: 30, schedule: Schedule.spaced("1 second") })
  )

/** Redirects at each other node all the time until `isOver`, and then waits until all is counted, or the bound is over. */
const countVisits = async (
  world: World,
  frozen: Node,
  before: number,
  isOver: () => boolean
): Promise<Pick<Froze, "visits" | "counted_ms">> => {
  const counted = new Counted()
  const others = world.topology.nodes.filter(({ name }) => name !== frozen.name)
  const rest = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  const visit = async ({ port }: Node) => {
    const client = Client.make(port, visitMax_ms)
    while (!isOver()) {
      const path = `/${world.visitedKey}`
      const answer = await client.ask({ method: "GET", path, requestId: "chaos-visit" })
      if (answer.status === 302) counted.visited(performance.now())
      await rest(visitEvery_ms)
    }
    client.close()
  }
  const visiting = { isOver: false }
  const look = async ({ port }: Node) => {
    const reader = Client.make(port)
    let isCounted = false
    let end: number | null = null
    while (!visiting.isOver || (!isCounted && performance.now() < (end ?? Number.POSITIVE_INFINITY))) {
      if (visiting.isOver) end ??= performance.now() + world.limits.visits_ms
      const at = performance.now()
      const total = await visitsOf(reader, world)
      if (total !== null) isCounted = counted.saw(total - before, at) && visiting.isOver
      await rest(lookEvery_ms)
    }
    reader.close()
    return isCounted
  }
  const looking = look(others[0]!)
  await Promise.all(others.map(visit))
  visiting.isOver = true
  const isCounted = await looking
  return { visits: counted.visits, counted_ms: isCounted ? counted.longest_ms : null }
}

/** How long a node may need to catch up: it has what came in while it stood still before it. */
const readyMax = "60 seconds"

/** Waits until the node says that it is ready, so that the next fault finds all well; gives when that was, after `since`; null: not in time. */
const untilReady = ({ port }: Node, since: number) =>
  Effect.acquireUseRelease(
    Effect.sync(() => Client.make(port)),
    (client) =>
      Effect.promise(() =>
        client.ask({ method: "GET", path: "/health/ready", requestId: "chaos-ready" })
      ).pipe(
        Effect.repeat({ schedule: Schedule.spaced("100 millis"), until: ({ status }) => status === 200 }),
        Effect.timeoutOption(readyMax),
        Effect.map((ready) => (ready._tag === "None" ? null : Math.round(performance.now() - since)))
      ),
    (client) => Effect.sync(() => client.close())
  )

/** Freezes a node at a statement of the kind, for as long as the run was told, and lets it go on. */
export const freeze = (kind: FreezeKind) =>
  Effect.fn("Freeze.freeze")(function* (world: World) {
    const { freeze_s, harm, limits, notify, observed, topology } = world
    const before = yield* visitsBefore(world)
    const aimed = yield* freezeOne(world, frozenAt[kind])
    if (aimed._tag === "None") {
      observed.violate("aim", `${kind}: no node carried out such a statement within ${aimMax}`)
      return { target: "no node", over: performance.now(), mend: Effect.void } satisfies Done
    }
    const { caught, node } = aimed.value
    const since = performance.now()
    const isOver = () => performance.now() - since >= freeze_s * 1_000
    harm.pauses++
    const state = yield* stateOf(world, caught.port)
    if (caught.inTransaction && state !== inTransaction) {
      observed.violate("aim", `${kind}: the session of ${node.name} is ${state}, not ${inTransaction}`)
    }
    const counting = countVisits(world, node, before, isOver)
    let [backends, held_ms] = [0, 0]
    while (!isOver()) {
      backends = Math.max(
        backends,
        yield* Effect.catchAll(backendsOf(world), ({ detail = "" }) =>
          Effect.succeed(tooMany.test(detail) ? Number.POSITIVE_INFINITY : 0)
        )
      )
      if ((yield* stateOf(world, caught.port)) === inTransaction)
        held_ms = Math.round(performance.now() - since)
      yield* Effect.sleep("500 millis")
    }
    const counted = yield* Effect.promise(() => counting)
    yield* node.signal("SIGCONT")
    const over = performance.now()
    const froze = { kind, target: node.name, backends, held_ms, ...counted }
    Checks.judgeFreeze(observed, froze, limits, topology.nodes.length)
    const where = caught.inTransaction
      ? `inside a transaction, which PostgreSQL kept open for ${held_ms} ms`
      : "after a statement that is a transaction"
    const visits = `${counted.visits} visits of the others counted within ${counted.counted_ms ?? `more than ${limits.visits_ms}`} ms`
    yield* notify(
      `${node.name} stood still ${where}: ${caught.statement.replace(/\s+/g, " ").trim().slice(0, 60)}; ` +
        `at most ${backends} connections, ${visits}`
    )
    const mend = Effect.gen(function* () {
      const back_ms = yield* untilReady(node, over)
      world.freezes.push({ ...froze, back_ms })
      if (back_ms === null) {
        observed.violate("C8", `${kind}: ${node.name} was not ready within ${readyMax} of going on`)
      } else yield* notify(`${node.name} was ready again ${back_ms} ms after it went on`)
    })
    return { target: node.name, over, mend, alone: node.name } satisfies Done
  })
