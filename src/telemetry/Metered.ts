import { Metric, MetricKey, MetricLabel, type MetricBoundaries } from "effect"

/**
 * Effect's metrics as this project uses them: each is registered with 0 at the start, so that a rate includes the first event, and each label has few
 * values that are known in advance, never a key, a URL or a name that a user chose.
 */
type Labels = Readonly<Record<string, string>>

const labelsOf = (labels: Labels) =>
  Object.entries(labels).map(([name, value]) => MetricLabel.make(name, value))

const none: ReadonlyArray<MetricLabel.MetricLabel> = []

/** Creates each metric once: Effect's registry hashes name and labels to find a metric, and batchers and actors look up theirs at each start. */
const remembering = <M>(make: (name: string, description: string, labels: Labels) => M) => {
  const made = new Map<string, M>()
  return (name: string, description: string, labels: Labels = {}): M => {
    const key = `${name} ${JSON.stringify(labels)}`
    const metric = made.get(key) ?? make(name, description, labels)
    made.set(key, metric)
    return metric
  }
}

/** A counter, which only grows. Its name ends in `_total`. */
export const counter = remembering((name, description, labels) => {
  const key = MetricKey.counter(name, { description, incremental: true })
  const metric = Metric.fromMetricKey(MetricKey.taggedWithLabels(key, labelsOf(labels)))
  metric.unsafeModify(0, none)
  return metric
})

/** A counter for each value of one label. */
export const countersBy = <Value extends string>(
  name: string,
  description: string,
  label: string,
  values: ReadonlyArray<Value>
) =>
  Object.fromEntries(
    values.map((value) => [value, counter(name, description, { [label]: value })])
  ) as Readonly<Record<Value, ReturnType<typeof counter>>>

/** A gauge, which goes up and down. */
export const gauge = remembering((name, description, labels) => {
  const key = MetricKey.gauge(name, { description })
  const metric = Metric.fromMetricKey(MetricKey.taggedWithLabels(key, labelsOf(labels)))
  metric.unsafeModify(0, none)
  return metric
})

/** A histogram of values in the unit that its name ends in. */
export const histogram = (
  name: string,
  description: string,
  boundaries: MetricBoundaries.MetricBoundaries,
  labels: Labels = {}
) => {
  const key = MetricKey.histogram(name, boundaries, description)
  const metric = Metric.fromMetricKey(MetricKey.taggedWithLabels(key, labelsOf(labels)))
  metric.unsafeValue(none)
  return metric
}

/** Counts synchronously: no effect, no fiber, some nanoseconds. Adds `amount` to a gauge, or observes it in a histogram. */
export const add = <Type, Out>(metric: Metric.Metric<Type, number, Out>, amount = 1): void =>
  metric.unsafeModify(amount, none)

/** The current state of a metric of this process. */
export const read = <Type, In, Out>(metric: Metric.Metric<Type, In, Out>): Out => metric.unsafeValue(none)
