// A node that stands still at a statement of our choice, inside its transaction.

import { Effect } from "effect"
import * as Client from "./Client.ts"
import type { Done } from "./Done.ts"
import { type FreezeKind, frozenAt } from "./FaultKind.ts"
import { inDatabase } from "./Stores.ts"
import type { Node } from "./Topology.ts"
import type { Caught } from "./Wire.ts"
import type { World } from "./World.ts"

/** Connections that a node may have at the server, as `docs/operations.md` states it. */
export const backendsPerNode = 52

/** How long a statement of a kind may be waited for: pools are refilled every few seconds. */
const aimMax = "60 seconds"

/** Visits that healthy nodes have had are counted within this. */
const visitsMax_ms = 10_000

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

/** What the server says of the session in which the node stands still. */
const stateOf = (world: World, port: number) =>
  inDatabase(world.topology, (sql) =>
    Effect.map(
      sql<{ state: string }>`SELECT state FROM pg_stat_activity WHERE client_port = ${port}`,
      ([row]) => row?.state ?? "gone"
    )
  ).pipe(Effect.orElseSucceed(() => "unknown"))

const backends = (world: World) =>
  inDatabase(world.topology, (sql) =>
    Effect.map(
      sql<{ count: number }>`SELECT count(*)::int AS count FROM pg_stat_activity
        WHERE application_name LIKE 'linkmint%' AND application_name <> 'linkmint-chaos'`,
      ([row]) => row!.count
    )
  )

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

/** Redirects once at each other node, and waits until that is counted; gives how long it took, null where it did not within the bound. */
const awaitVisits = (world: World, frozen: Node, before: number): Promise<number | null> => {
  const since = performance.now()
  const others = world.topology.nodes.filter(({ name }) => name !== frozen.name)
  const ask = async () => {
    const clients = others.map(({ port }) => Client.make(port))
    let visited = 0
    for (const client of clients) {
      const answer = await client.ask({
        method: "GET",
        path: `/${world.visitedKey}`,
        requestId: "chaos-visit"
      })
      if (answer.status === 302) visited++
    }
    const reader = Client.make(others[0]!.port)
    let took: number | null = null
    while (took === null && performance.now() - since < visitsMax_ms) {
      const total = await visitsOf(reader, world)
      if (total !== null && total >= before + visited) took = Math.round(performance.now() - since)
      else await new Promise((resolve) => setTimeout(resolve, 100))
    }
    for (const client of [...clients, reader]) client.close()
    return took
  }
  return ask()
}

/** Freezes a node at a statement of the kind, for as long as the run was told, and lets it go on. */
export const freeze = (kind: FreezeKind) =>
  Effect.fn("Freeze.freeze")(function* (world: World) {
    const { freeze_s, harm, notify, observed, topology } = world
    const client = Client.make(topology.port)
    const before = yield* Effect.promise(() => visitsOf(client, world))
    client.close()
    const aimed = yield* freezeOne(world, frozenAt[kind])
    if (aimed._tag === "None") {
      observed.violate("aim", `${kind}: no node carried out such a statement within ${aimMax}`)
      return { target: "no node", over: performance.now(), mend: Effect.void } satisfies Done
    }
    const { caught, node } = aimed.value
    const since = performance.now()
    harm.pauses++
    const state = yield* stateOf(world, caught.port)
    if (caught.inTransaction && state !== "idle in transaction") {
      observed.violate("aim", `${kind}: the session of ${node.name} is ${state}, not idle in transaction`)
    }
    const visits = before === null ? Promise.resolve(null) : awaitVisits(world, node, before)
    let most = 0
    while (performance.now() - since < freeze_s * 1_000) {
      most = Math.max(most, yield* Effect.orElseSucceed(backends(world), () => Number.POSITIVE_INFINITY))
      yield* Effect.sleep("500 millis")
    }
    const counted_ms = yield* Effect.promise(() => visits)
    yield* node.signal("SIGCONT")
    const over = performance.now()
    const max = topology.nodes.length * backendsPerNode
    if (most > max) {
      observed.violate(
        "connections",
        `${kind}: PostgreSQL had ${most} connections of nodes, not ${max} at most`
      )
    }
    if (counted_ms === null) {
      observed.violate("C11", `${kind}: visits at other nodes were not counted within ${visitsMax_ms} ms`)
    }
    const where = caught.inTransaction ? "inside a transaction" : "after a statement that is a transaction"
    yield* notify(
      `${node.name} stood still ${where} (${state}): ${caught.statement.replace(/\s+/g, " ").trim().slice(0, 60)}; ` +
        `at most ${most} connections, visits of the others counted after ${counted_ms} ms`
    )
    return { target: node.name, over, mend: Effect.void, alone: node.name } satisfies Done
  })
