// Redirects through the kill of a node.

import { Effect } from "effect"
import * as Load from "./Load.ts"
import { Observed, type Tally } from "./Observed.ts"
import type { World } from "./World.ts"

/** The part of redirects that are answered right while a node dies. */
export const availabilityMin = 0.999

/** Fewer tell nothing. */
const requestsMin = 200

const before = "3 seconds"
const after = "8 seconds"

/**
 * Kills a node with -9 under redirects alone, 11 s long, and starts it again after 2 s. Gives what became of the redirects, and
 * notes it where fewer than 99.9 % were answered right.
 */
export const redirectsThroughKill = Effect.fn("redirectsThroughKill")(function* (world: World) {
  const { acknowledged, harm, notify, topology } = world
  const node = topology.nodes[1]!
  const observed = new Observed()
  yield* Effect.gen(function* () {
    const load = { port: topology.port, apiKey: topology.adminKey, chance: Math.random }
    yield* Load.start(
      { ...load, clients: 16, requestsPerSecond: 400, creates: 0, linksMax: 0 },
      observed,
      acknowledged
    )
    yield* Effect.sleep(before)
    harm.nodeKills++
    yield* node.signal("SIGKILL")
    yield* Effect.zipRight(
      Effect.delay(Effect.zipRight(node.ended, node.start), "2 seconds"),
      Effect.void
    ).pipe(Effect.zip(Effect.sleep(after), { concurrent: true }))
  }).pipe(Effect.scoped)
  observed.violations.forEach(({ evidence, promise }) => world.observed.violate(promise, evidence))
  const tally: Tally = observed.tallies.get("calm")?.redirect ?? { sent: 0, answered: 0 }
  const instead = [...observed.failures].map(([what, times]) => `${what} ×${times}`).join(", ")
  yield* notify(
    `redirects through kill -9 of ${node.name}: ${tally.answered} of ${tally.sent} answered right ${instead}`
  )
  if (tally.sent < requestsMin || tally.answered < availabilityMin * tally.sent) {
    world.observed.violate(
      "redirects through a kill",
      `${tally.answered} of ${tally.sent} answered right: ${instead}`
    )
  }
  return tally
})
