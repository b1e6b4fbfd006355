import { Duration, Effect, Option, Stream } from "effect"
import type { PoolMarks } from "../../actors/keys/PoolShardLive.ts"
import type { OperationsOf } from "../contract/Operations.ts"
import { type Answer, flatten, json } from "../exchange/Answer.ts"
import * as Caller from "../exchange/Caller.ts"
import * as ClusterPicture from "./ClusterPicture.ts"
import { Draining } from "./Draining.ts"
import * as EventStream from "../exchange/EventStream.ts"
import type * as NodeReporter from "./NodeReporter.ts"
import * as Problem from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"

/** The maximum of open streams on a node. */
export const streamsMax = 16

const every = Duration.seconds(1)

/** This node's identity, and the marks of its pools. */
export interface ClusterRoutesOptions {
  readonly node: NodeReporter.NodeName
  readonly poolMarks: PoolMarks
}

const tooMany = Problem.refuse(
  "too-many-streams",
  `This node has ${streamsMax} streams of events open, and no more at a time. Close one, or ask for /api/v1/cluster.`
)

/** Shows the cluster to administrators, once or as a stream with an event every second. */
export const make = Effect.gen(function* () {
  const { current } = yield* ClusterPicture.ClusterPicture
  const { isDraining } = yield* Draining
  const identify = yield* Caller.make
  const identifyAgain = yield* Caller.makeAgain
  let open = 0

  const requireAdmin = (caller: ReturnType<typeof identify>) =>
    Effect.flatMap(caller, (caller) => Caller.requireScope(caller, "admin"))

  /**
   * A stream also ends when its key is revoked, its session ends, or the node shuts down. It is no use of its session, which ends as though the page were closed. A database that does not
   * answer does not end it.
   */
  const goesOn = (request: Request) =>
    Effect.suspend(() => {
      if (isDraining()) return Effect.succeed(false)
      return Effect.match(requireAdmin(identifyAgain(request)), {
        onFailure: ({ kind }) => kind === "unavailable",
        onSuccess: () => true
      })
    })

  /** Counts a stream for as long as it is read. */
  const counted = Stream.acquireRelease(
    Effect.sync(() => open++),
    () => Effect.sync(() => open--)
  )

  return {
    cluster: Effect.fn("cluster.once")(function* (request) {
      yield* requireAdmin(identify(request))
      return json(yield* current)
    }),

    watch: Effect.fn("cluster.watch")(function* (request) {
      yield* requireAdmin(identify(request))
      if (isDraining()) return yield* Effect.fail(Problem.unavailable)
      if (open >= streamsMax) return yield* tooMany
      const next = Effect.if(goesOn(request), {
        onTrue: () => Effect.map(current, (body) => Option.some(JSON.stringify(body))),
        onFalse: () => Effect.succeedNone
      })
      const events = Stream.encodeText(EventStream.make({ next, every }))
      const answer: Answer = {
        status: 200,
        // Otherwise some proxies would buffer events.
        headers: flatten({ "content-type": "text/event-stream", "x-accel-buffering": "no" }),
        body: Stream.flatMap(counted, () => events)
      }
      return answer
    })
  } satisfies OperationsOf<"cluster">
})
