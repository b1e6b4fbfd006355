import { Clock, Duration, Effect, Layer } from "effect"
import type { NodeReport } from "../../model/NodeReport.ts"
import { NodeReports, rememberedFor } from "./NodeReports.ts"

/** `NodeReports` of a process alone, by Effect's clock: the reference that other backends are compared with. */
export const make = Effect.sync(() => {
  const told = new Map<string, { readonly report: NodeReport; readonly at: number }>()
  return NodeReports.of({
    tell: (report) => Effect.map(Clock.currentTimeMillis, (at) => void told.set(report.id, { report, at })),
    leave: (id) => Effect.sync(() => void told.delete(id)),
    all: Effect.map(Clock.currentTimeMillis, (now) => {
      for (const [id, { at }] of told) if (now - at > Duration.toMillis(rememberedFor)) told.delete(id)
      return [...told.values()]
        .map(({ at, report }) => ({ report, age_ms: Math.max(0, now - at) }))
        .toSorted((a, b) => (a.report.id < b.report.id ? -1 : 1))
    })
  })
})

/** A store of its own for each build of the layer. */
export const layer: Layer.Layer<NodeReports> = Layer.effect(NodeReports, make)
