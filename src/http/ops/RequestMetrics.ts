import type { RequestListener } from "node:http"
import { type Clock, MetricBoundaries } from "effect"
import * as Metered from "../../telemetry/Metered.ts"
import { monotonicNow_ms } from "../../time/MonotonicTime.ts"
import type { RequestTotals, TimedTotal } from "../../model/NodeReport.ts"
import { type Route, routeOf } from "../contract/Routes.ts"
import type { FrontDoor } from "../server/FrontDoor.ts"

/** The status of a request whose client went away before it was answered, as nginx writes it. */
const clientGone = 499

/** The upper bounds of the histogram's buckets. */
export const bounds_s: ReadonlyArray<number> = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5
]

const boundaries_s = MetricBoundaries.fromIterable(bounds_s)

const underWay = Metered.gauge("linkmint_http_requests_in_flight", "Requests that are being answered")

/** The metrics of one route. */
class RouteMeter {
  readonly #labels: { readonly method: string; readonly route: string }
  readonly #duration: ReturnType<typeof Metered.histogram>
  readonly #byStatus = new Map<number, ReturnType<typeof Metered.counter>>()

  constructor({ method, path }: Route) {
    this.#labels = { method, route: path }
    this.#duration = Metered.histogram(
      "linkmint_http_request_duration_seconds",
      "Time from a request's head to the end of its answer",
      boundaries_s,
      this.#labels
    )
  }

  count(status: number, duration_s: number): void {
    let counter = this.#byStatus.get(status)
    if (counter === undefined) {
      counter = Metered.counter("linkmint_http_requests_total", "Requests that were answered", {
        ...this.#labels,
        status: String(status)
      })
      this.#byStatus.set(status, counter)
    }
    Metered.add(counter)
    Metered.add(this.#duration, duration_s)
  }

  get timed(): TimedTotal {
    const { buckets, count } = Metered.read(this.#duration)
    return { count, within: [...buckets].slice(0, bounds_s.length).map(([, within]) => within) }
  }

  get errors(): number {
    let errors = 0
    for (const [status, counter] of this.#byStatus) if (status >= 500) errors += Metered.read(counter).count
    return errors
  }
}

/** Routes without requests have no metrics. */
const meters = new Map<Route, RouteMeter>()

const meterOf = (route: Route): RouteMeter => {
  const present = meters.get(route)
  if (present !== undefined) return present
  const meter = new RouteMeter(route)
  meters.set(route, meter)
  return meter
}

const nothingTimed: TimedTotal = { count: 0, within: bounds_s.map(() => 0) }

const timedOf = (method: string, url: string): TimedTotal =>
  meters.get(routeOf(method, url))?.timed ?? nothingTimed

/** The answers of this process so far. */
export const totals = (): RequestTotals => {
  let [requests, errors] = [0, 0]
  for (const [{ path }, meter] of meters) {
    requests += meter.timed.count
    if (path !== "/health/ready") errors += meter.errors
  }
  return { requests, errors, redirects: timedOf("GET", "/key"), creates: timedOf("POST", "/api/v1/links") }
}

/** Runs no effect, because hot redirects run none either. */
const count = (clock: Clock.Clock, route: Route, status: number, start_ms: number): void =>
  meterOf(route).count(status, (monotonicNow_ms(clock) - start_ms) / 1_000)

/** Counts the answers of a listener by route and status, and their durations, until their clients have them. */
export const counting =
  (clock: Clock.Clock, listener: RequestListener): RequestListener =>
  (message, response) => {
    const start_ms = monotonicNow_ms(clock)
    Metered.add(underWay)
    const over = () => {
      Metered.add(underWay, -1)
      const status = response.headersSent ? response.statusCode : clientGone
      count(clock, routeOf(message.method!, message.url!), status, start_ms)
    }
    listener(message, response)
    if (response.writableEnded) over()
    else response.once("close", over)
  }

/** The same for a front door, until it answers. */
export const countingServe =
  (clock: Clock.Clock, serve: FrontDoor["serve"]): FrontDoor["serve"] =>
  (request, answer) => {
    const start_ms = monotonicNow_ms(clock)
    let isOver = false
    let isUnderWay = false
    const end = (route: Route, status: number) => {
      isOver = true
      if (isUnderWay) Metered.add(underWay, -1)
      count(clock, route, status, start_ms)
    }
    const giveUp = serve(request, (made, route) => {
      answer(made, route)
      end(route, made.status)
    })
    // Most are answered by now.
    if (isOver) return giveUp
    isUnderWay = true
    Metered.add(underWay)
    return () => {
      end(routeOf(request.method, request.url), clientGone)
      giveUp()
    }
  }
