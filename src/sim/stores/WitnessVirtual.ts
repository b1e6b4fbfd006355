import { Effect, type Scope } from "effect"
import * as Concurrent from "../../fibers/Concurrent.ts"
import * as Witness from "../../storage/nodes/Witness.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import * as KeyPoolVirtual from "./KeyPoolVirtual.ts"
import type { VirtualRedis } from "./VirtualRedis.ts"

/** `Witness` in one Redis, as a process reaches it. It forgets what its Redis forgets. */
export const make = (
  redis: VirtualRedis,
  process: VirtualProcess
): Effect.Effect<typeof Witness.Witness.Service, never, Scope.Scope> =>
  Effect.map(KeyPoolVirtual.connect(redis, process), (send) => ({
    read: send("Witness.read", () => redis.testimony),
    raise: (seen) => send("Witness.raise", () => redis.witness(Witness.later(redis.testimony, seen))),
    adopt: (database) => send("Witness.adopt", () => redis.witness({ ...redis.testimony, ...database }))
  }))

/** The witnesses of a cluster: each Redis of its pools. */
export const among = (
  servers: ReadonlyArray<VirtualRedis>,
  process: VirtualProcess
): Effect.Effect<typeof Witness.Witness.Service, never, Scope.Scope> =>
  Effect.map(
    Concurrent.forEach(servers, (redis) => make(redis, process)),
    Witness.among
  )
