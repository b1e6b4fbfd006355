// A node whose clock is wrong, and links that end meanwhile.

import { DateTime, Effect, Random } from "effect"
import { Unavailable } from "../test/support/services/Service.ts"
import * as Client from "./Client.ts"
import { isOrderly, type Done } from "./Done.ts"
import type { Node } from "./Topology.ts"
import type { World } from "./World.ts"

/** How wrong it is. */
const wrong_s = 45

/** So long a link lives. */
const life_ms = 6_000

/** It may end so much earlier or later, by true time. */
const tolerance_ms = 1_000

/** Stops a node in order and starts it again with the clock as it is set. */
const restart = (world: World, node: Node): Effect.Effect<void, Unavailable> =>
  Effect.gen(function* () {
    yield* node.signal("SIGTERM")
    const how = yield* node.ended
    if (!isOrderly(how)) world.observed.violate("orderly stop", `${node.name} ${how}`)
    yield* node.start
  })

/** Makes a link at one node that ends soon, and asks every node for it until it has ended. */
const watchEnd = async ({ observed, topology }: World, maker: Node, now: () => number): Promise<void> => {
  const { adminKey, nodes } = topology
  const end = now() + life_ms
  const client = Client.make(maker.port)
  const answer = await client.ask({
    method: "POST",
    path: "/api/v1/links",
    requestId: `chaos-end-${maker.name}`,
    apiKey: adminKey,
    json: { url: "https://example.com/ends", expiresAt: DateTime.formatIso(DateTime.unsafeMake(end)) }
  })
  client.close()
  if (answer.status !== 201) {
    observed.violate("time", `${maker.name} refused a link that ends in ${life_ms} ms: ${answer.status}`)
    return
  }
  const { key } = JSON.parse(answer.body) as { readonly key: string }
  const ask = async (node: Node) => {
    const at = Client.make(node.port)
    for (let start = now(); start < end + 2 * tolerance_ms; start = now()) {
      const { status } = await at.ask({ method: "GET", path: `/${key}`, requestId: `chaos-end-${node.name}` })
      const told = `a link that was made at ${maker.name}: ${node.name} answered ${status}`
      if ((status === 404 || status === 410) && now() < end - tolerance_ms) {
        observed.violate("time", `${told} ${end - now()} ms before its end`)
        break
      }
      if (status === 302 && start > end + tolerance_ms) {
        observed.violate("time", `${told} ${start - end} ms after its end`)
        break
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    at.close()
  }
  await Promise.all(nodes.map(ask))
}

/** Runs a node with a wrong clock, and watches that links made at each node end at each node when they should. */
export const clock = Effect.fn("Clock.clock")(function* (world: World) {
  const { nodes } = world.topology
  const node = nodes[yield* Random.nextIntBetween(0, nodes.length)]!
  const ahead_s = (yield* Random.nextBoolean) ? wrong_s : -wrong_s
  const trueTime = yield* Effect.clock
  const now = () => trueTime.unsafeCurrentTimeMillis()
  node.setClock(ahead_s)
  yield* restart(world, node)
  yield* Effect.promise(() => Promise.all(nodes.map((maker) => watchEnd(world, maker, now))))
  node.setClock(0)
  const over = performance.now()
  return {
    target: `${node.name} (${ahead_s} s)`,
    over,
    mend: restart(world, node),
    alone: node.name
  } satisfies Done
})
