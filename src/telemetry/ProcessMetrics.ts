import { collectDefaultMetrics, Registry } from "prom-client"

/** Gauges that end in `_total`, against Prometheus' conventions. For each there is another metric with more detail. */
const misnamed = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total"
]

/**
 * How often the event loop is looked at, in milliseconds: its lag is known to within this, and reads as this when nothing holds the loop up. By default it is 10, for which an idle process
 * is woken 100 times a second, at 5 to 7 ms of CPU time.
 */
const lagResolution_ms = 100

let registry: Registry | undefined

/** Measures this process from the first call on: CPU, memory, files, event loop and garbage collection, under `prom-client`'s names. */
export const watch = (): Registry => {
  if (registry === undefined) {
    registry = new Registry()
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: lagResolution_ms })
    for (const name of misnamed) registry.removeSingleMetric(name)
  }
  return registry
}
