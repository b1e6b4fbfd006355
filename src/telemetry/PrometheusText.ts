import { Metric, MetricKeyType, type MetricPair, MetricState } from "effect"

/** One number of a family; `suffix` follows the family's name. */
export interface Sample {
  readonly suffix?: "_bucket" | "_count" | "_sum"
  readonly labels: Readonly<Record<string, string>>
  readonly value: number | bigint
}

/** All samples of one metric. */
export interface Family {
  readonly name: string
  readonly help: string
  readonly type: "counter" | "gauge" | "histogram"
  readonly samples: ReadonlyArray<Sample>
}

/** The type of the text (https://prometheus.io/docs/instrumenting/exposition_formats, version 0.0.4). */
export const contentType = "text/plain; version=0.0.4; charset=utf-8"

const numberText = (value: number | bigint): string =>
  value === Number.POSITIVE_INFINITY ? "+Inf" : value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value)

const escapedHelp = (text: string) => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")

const escapedValue = (text: string) => escapedHelp(text).replaceAll('"', '\\"')

const sampleText = (name: string, { labels, suffix, value }: Sample): string => {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapedValue(text)}"`)
  return `${name}${suffix ?? ""}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${numberText(value)}\n`
}

/** Writes families in Prometheus' text format. */
export const encode = (families: ReadonlyArray<Family>): string =>
  families
    .map(
      ({ help, name, samples, type }) =>
        `# HELP ${name} ${escapedHelp(help)}\n# TYPE ${name} ${type}\n` +
        samples.map((sample) => sampleText(name, sample)).join("")
    )
    .join("")

const labelsOf = ({ metricKey }: MetricPair.MetricPair.Untyped) =>
  Object.fromEntries(metricKey.tags.map(({ key, value }) => [key, value]))

/** Whether a counter of Effect only grows, as those of Prometheus do. */
const isIncremental = ({ metricKey: { keyType } }: MetricPair.MetricPair.Untyped) =>
  MetricKeyType.isCounterKey(keyType) && keyType.incremental

/** The samples of one metric of Effect. Frequencies and summaries have none, because this project does not use them. */
const read = (pair: MetricPair.MetricPair.Untyped): Pick<Family, "samples" | "type"> | undefined => {
  const state = pair.metricState
  const labels = labelsOf(pair)
  if (MetricState.isCounterState(state)) {
    return { type: isIncremental(pair) ? "counter" : "gauge", samples: [{ labels, value: state.count }] }
  }
  if (MetricState.isGaugeState(state)) return { type: "gauge", samples: [{ labels, value: state.value }] }
  if (!MetricState.isHistogramState(state)) return undefined
  const buckets = state.buckets.map(([boundary, value]): Sample => ({
    suffix: "_bucket",
    labels: { ...labels, le: numberText(boundary) },
    value
  }))
  return {
    type: "histogram",
    samples: [
      ...buckets,
      { suffix: "_sum", labels, value: state.sum },
      { suffix: "_count", labels, value: state.count }
    ]
  }
}

/**
 * Effect's own histogram of fibers counts in milliseconds, and has 36 buckets. Its gauge of shards keeps its value when shards are released, until the next one
 * is acquired.
 */
const leftOut: ReadonlySet<string> = new Set(["effect_fiber_lifetimes", "effect_cluster_shards"])

const nameOf = (name: string, { type }: Pick<Family, "type">) =>
  type === "counter" && !name.endsWith("_total") ? `${name}_total` : name

/** Effect's metrics in this process, ours and those of the libraries, by name. */
export const fromEffect = (): ReadonlyArray<Family> => {
  const families = new Map<string, Family & { samples: Array<Sample> }>()
  for (const pair of Metric.unsafeSnapshot()) {
    const found = read(pair)
    if (found === undefined || leftOut.has(pair.metricKey.name)) continue
    const name = nameOf(pair.metricKey.name, found)
    const family = families.get(name)
    if (family !== undefined) family.samples.push(...found.samples)
    else {
      const help = pair.metricKey.description._tag === "Some" ? pair.metricKey.description.value : name
      families.set(name, { name, help, type: found.type, samples: [...found.samples] })
    }
  }
  return [...families.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
