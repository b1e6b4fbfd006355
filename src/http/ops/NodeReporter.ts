import { Duration, Effect, Layer } from "effect"
import * as Pulse from "../../time/Pulse.ts"
import { KeyBuffer } from "../../actors/keys/KeyBuffer.ts"
import { linksCreated } from "../../actors/links/LinkCreates.ts"
import { RedirectCache } from "../../actors/links/RedirectCache.ts"
import * as Metered from "../../telemetry/Metered.ts"
import { monotonic_ms } from "../../time/MonotonicTime.ts"
import type { NodeReport } from "../../model/NodeReport.ts"
import { NodeReports } from "../../storage/nodes/NodeReports.ts"
import { version } from "../../model/Version.ts"
import { Draining } from "./Draining.ts"
import * as RequestMetrics from "./RequestMetrics.ts"

/** How the other nodes identify this one: see `NodeReport`. */
export type NodeName = Pick<NodeReport, "address" | "id" | "role">

const tellEvery = Duration.seconds(1)

/** How long a node that shuts down tries to write its last report. */
const goodbyeMax = Duration.seconds(1)

/** How often this node looks for another one with its address. */
const lookEvery = Duration.seconds(10)

/** A node that has reported for so long since this one first read its report runs beside it. */
const besideAfter_ms = Duration.toMillis(lookEvery)

/** How often a log line says that another node has this one's address. */
const toldEvery_ms = 60_000

/**
 * Warns while another node that runs has this one's address: by that, nodes are registered as owners of actors, so that of the two only one owns any, and the other one is never ready. A node that
 * starts again finds the last report of its predecessor, which is not renewed. Nodes with the role `http` are not registered.
 */
export const watchAddress = ({ address, id, role }: NodeName): Effect.Effect<void, never, NodeReports> =>
  Effect.gen(function* () {
    const reports = yield* NodeReports
    /** The uptimes of such nodes when their reports were read first. */
    let firstUptimes_ms: ReadonlyMap<string, number> = new Map()
    let told_ms = Number.NEGATIVE_INFINITY

    const look = Effect.gen(function* () {
      const namesakes = (yield* reports.all).flatMap(({ report }) =>
        report.id !== id && report.address === address && report.role === "all" && !report.isStopping
          ? [{ report, first_ms: firstUptimes_ms.get(report.id) ?? report.uptime_ms }]
          : []
      )
      firstUptimes_ms = new Map(namesakes.map(({ first_ms, report }) => [report.id, first_ms]))
      const now_ms = yield* monotonic_ms
      const runsBeside = namesakes.some(
        ({ first_ms, report }) => report.uptime_ms - first_ms >= besideAfter_ms
      )
      if (!runsBeside || now_ms - told_ms < toldEvery_ms) return
      told_ms = now_ms
      yield* Effect.logWarning(
        `Another node runs with this one's address, ${address}, so that one of the two never becomes ready: set RUNNER_HOST on each machine to a name or an address at which the other nodes reach it, and RUNNER_PORT where several share a machine.`
      )
    }).pipe(
      Effect.catchAll((error) => Effect.logDebug(`The reports of nodes were not read: ${error.message}`))
    )

    if (role === "all") return yield* Pulse.fromNow(look, lookEvery)
  })

/** Writes the reports of this node for the others, from its start to its graceful shutdown. */
export const layer = (name: NodeName) =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const reports = yield* NodeReports
      const buffer = yield* KeyBuffer
      const cache = yield* RedirectCache
      const { isDraining } = yield* Draining
      const start_ms = yield* monotonic_ms

      const tell = Effect.gen(function* () {
        yield* reports.tell({
          ...name,
          version,
          isStopping: isDraining(),
          uptime_ms: (yield* monotonic_ms) - start_ms,
          bufferedKeys: yield* buffer.level,
          cachedLinks: cache.size(),
          linksCreated: Metered.read(linksCreated).count,
          totals: RequestMetrics.totals()
        })
      }).pipe(Effect.catchAll((error) => Effect.logDebug(`This node was not reported: ${error.message}`)))

      const leave = reports
        .leave(name.id)
        .pipe(Effect.interruptible, Effect.timeoutOption(goodbyeMax), Effect.ignore)
      yield* Effect.addFinalizer(() => leave)
      yield* Effect.forkScoped(Pulse.fromNow(tell, tellEvery))
      yield* Effect.forkScoped(watchAddress(name))
    })
  )
