import { Effect, Random } from "effect"
import { createServer } from "node:net"

/** Below Linux's ports for outgoing connections (32,768 and up), which come and go all the time. */
const lowest = 20_000
const highest = 32_000

const isFree = (port: number): Effect.Effect<boolean> =>
  Effect.async((resume) => {
    const probe = createServer()
    probe.once("error", () => resume(Effect.succeed(false)))
    probe.listen(port, "0.0.0.0", () => probe.close(() => resume(Effect.succeed(true))))
  })

/** A port of this machine that nobody listens on, drawn at random so that test files side by side draw different ones. */
export const freePort: Effect.Effect<number> = Effect.repeat(
  Effect.flatMap(Random.nextIntBetween(lowest, highest), (port) =>
    Effect.map(isFree(port), (free) => ({ port, free }))
  ),
  { until: ({ free }) => free }
).pipe(Effect.map(({ port }) => port))
