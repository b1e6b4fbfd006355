import { Metric, MetricKey, MetricLabel, type MetricBoundaries } from "effect"

/**
 * Effect's metrics as this project uses them: each is there from the start, with 0, so that a rate can be told from its first event on, and each label has few
 * values that are known beforehand, never a key, a URL or a name that somebody chose.
 */
type Labels = Readonly<Record<string, string>>

const labelsOf = (labels: Labels) =>
  Object.entries(labels).map(([name, value]) => MetricLabel.make(name, value))

const none: ReadonlyArray<MetricLabel.MetricLabel> = []

/** Makes each metric once: to find one again among all others takes hashes of its name and labels, and batchers and actors ask for theirs at each start. */
const remembering = <M>(make: (name: string, description: string, labels: Labels) => M) => {
  const made = new Map<string, M>()
  return (name: string, description: string, labels: Labels = {}): M => {
    const key = `${name} ${JSON.stringify(labels)}`
    const metric = made.get(key) ?? make(name, description, labels)
    made.set(key, metric)
    return metric
  }
}

/** What only grows. The name ends in `_total`. */
export const counter = remembering((name, description, labels) => {
  const key = MetricKey.counter(name, { description, incremental: true })
  const metric = Metric.fromMetricKey(MetricKey.taggedWithLabels(key, labelsOf(labels)))
  metric.unsafeModify(0, none)
  return metric
})

/** The same for each value of one label. */
export const countersBy = <Value extends string>(
  name: string,
  description: string,
  label: string,
  values: ReadonlyArray<Value>
) =>
  Object.fromEntries(
    values.map((value) => [value, counter(name, description, { [label]: value })])
  ) as Readonly<Record<Value, ReturnType<typeof counter>>>

/** What goes up and down. */
export const gauge = remembering((name, description, labels) => {
  const key = MetricKey.gauge(name, { description })
  const metric = Metric.fromMetricKey(MetricKey.taggedWithLabels(key, labelsOf(labels)))
  metric.unsafeModify(0, none)
  return metric
})

/** How values, in the unit that the name ends in, are spread over buckets. */
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

/** Counts at once: no effect, no fiber, some nanoseconds. A gauge goes up by `amount`, or down; a histogram takes it in. */
export const add = <Type, Out>(metric: Metric.Metric<Type, number, Out>, amount = 1): void =>
  metric.unsafeModify(amount, none)

/** What a metric of this process has come to. */
export const read = <Type, In, Out>(metric: Metric.Metric<Type, In, Out>): Out => metric.unsafeValue(none)
