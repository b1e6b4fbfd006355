import { collectDefaultMetrics, Registry } from "prom-client"

/** Gauges that end in `_total`, against Prometheus' conventions. Each has a sibling that tells more. */
const misnamed = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total"
]

let registry: Registry | undefined

/** Watches this process from the first call on: CPU, memory, files, event loop and garbage collection, under the names that `prom-client` gives them. */
export const watch = (): Registry => {
  if (registry === undefined) {
    registry = new Registry()
    collectDefaultMetrics({ register: registry })
    for (const name of misnamed) registry.removeSingleMetric(name)
  }
  return registry
}
