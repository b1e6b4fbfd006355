// Redirects through the kill of a node.

import { Effect } from "effect"
import * as Load from "./Load.ts"
import { Observed, type Tally } from "./Observed.ts"
import type { Node } from "./Topology.ts"
import type { World } from "./World.ts"

/** Fewer tell nothing. */
const requestsMin = 200

const before = "3 seconds"
const after = "8 seconds"

/** Kills a node with -9, and starts it again after 2 s. */
const killOne = ({ harm }: World, node: Node) =>
  Effect.gen(function* () {
    yield* Effect.sleep(before)
    harm.nodeKills++
    yield* node.signal("SIGKILL")
    yield* Effect.zip(
      Effect.delay(Effect.zipRight(node.ended, node.start), "2 seconds"),
      Effect.sleep(after),
      { concurrent: true }
    )
  })

/**
 * Kills nodes with -9, one after the other, under 400 redirects a second and nothing else, some 11 s for each. Gives what became of
 * the redirects, and notes it where too few were answered right.
 */
export const redirectsThroughKills = Effect.fn("redirectsThroughKills")(function* (world: World) {
  const { acknowledged, limits, notify, topology } = world
  const nodes = Array.from(
    { length: limits.kills },
    (_, index) => topology.nodes[(index + 1) % topology.nodes.length]!
  )
  const observed = new Observed()
  yield* Effect.gen(function* () {
    const load = { port: topology.port, apiKey: topology.adminKey, chance: Math.random }
    yield* Load.start(
      {
        ...load,
        clients: 16,
        requestsPerSecond: 400,
        parts: { hot: 1, cold: 0, create: 0, change: 0 },
        keys: [...acknowledged.links.keys()],
        hotLinks: Number.POSITIVE_INFINITY,
        nextCold: () => undefined,
        linksMax: 0
      },
      observed,
      acknowledged
    )
    yield* Effect.forEach(nodes, (node) => killOne(world, node), { discard: true })
  }).pipe(Effect.scoped)
  observed.violations.forEach(({ evidence, promise }) => world.observed.violate(promise, evidence))
  const tally: Tally = observed.tallies.get("calm")?.hot ?? { sent: 0, answered: 0 }
  const instead = [...observed.failures].map(([what, times]) => `${what} ×${times}`).join(", ")
  yield* notify(
    `redirects through ${limits.kills} × kill -9: ${tally.answered} of ${tally.sent} answered right ${instead}`
  )
  if (tally.sent < requestsMin || tally.answered < limits.availability * tally.sent) {
    world.observed.violate(
      "redirects through a kill",
      `${tally.answered} of ${tally.sent} answered right: ${instead}`
    )
  }
  return tally
})
