// A node that is cut off from PostgreSQL, both ways or one.

import { Effect, Random } from "effect"
import type { Done } from "./Done.ts"
import type { Direction } from "./Wire.ts"
import type { World } from "./World.ts"

/** Longer than locks last, and than a statement may take. */
const cut = "10 seconds"

/** Cuts a node's ways to the database for a while. What was on the way arrives afterwards. */
export const cutOff = (directions: ReadonlyArray<Direction>) =>
  Effect.fn("Cut.cutOff")(function* (world: World) {
    const { nodes } = world.topology
    const node = nodes[yield* Random.nextIntBetween(0, nodes.length)]!
    world.harm.pauses++
    node.wires.cut(directions)
    yield* Effect.ensuring(
      Effect.sleep(cut),
      Effect.sync(() => node.wires.mend())
    )
    return { target: node.name, over: performance.now(), mend: Effect.void, alone: node.name } satisfies Done
  })
