import { collectDefaultMetrics, Registry } from "prom-client"

/** Gauges that end in `_total`, against Prometheus' conventions. For each there is another metric with more detail. */
const misnamed = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total"
]

let registry: Registry | undefined

/** Measures this process from the first call on: CPU, memory, files, event loop and garbage collection, under `prom-client`'s names. */
export const watch = (): Registry => {
  if (registry === undefined) {
    registry = new Registry()
    collectDefaultMetrics({ register: registry })
    for (const name of misnamed) registry.removeSingleMetric(name)
  }
  return registry
}
