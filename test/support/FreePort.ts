import { Effect } from "effect"
import { createServer } from "node:net"

/** Below Linux's ports for outgoing connections (32,768 and up), which come and go all the time. */
const lowest = 20_000
const highest = 32_000

/** Workers of the tests have a part of the ports each: one that a worker found free is not taken by the other before it is used. */
const workers = 2
const worker = Number(process.env["VITEST_POOL_ID"] ?? 0)
const count = worker === 0 ? highest - lowest : Math.floor((highest - lowest) / workers)
const first = lowest + (worker === 0 ? 0 : ((worker - 1) % workers) * count)

/** From one port that is given out to the next: several processes of a program take those after theirs. */
const stride = 10

// Begun anywhere, so that programs side by side draw different ones, and never the same twice until all had their turn.
let next = Math.floor(Math.random() * count)

/** Whether nobody listens at a port, whichever address of this machine it is. */
export const isFree = (port: number): Effect.Effect<boolean> =>
  Effect.async((resume) => {
    const probe = createServer()
    probe.once("error", () => resume(Effect.succeed(false)))
    probe.listen(port, "0.0.0.0", () => probe.close(() => resume(Effect.succeed(true))))
  })

/** A port of this machine that nobody listens on, and that this process has not drawn lately. */
export const freePort: Effect.Effect<number> = Effect.repeat(
  Effect.suspend(() => {
    const port = first + next
    next = (next + stride) % count
    return Effect.map(isFree(port), (free) => ({ port, free }))
  }),
  { until: ({ free }) => free }
).pipe(Effect.map(({ port }) => port))

/** The same, as many as are asked for, all different. */
export const freePorts = (count: number): Effect.Effect<ReadonlyArray<number>> =>
  Effect.replicateEffect(freePort, count)
