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
    })
  )
