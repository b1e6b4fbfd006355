import type { Cluster } from "../api/Types.ts"
import { fill } from "../language/fill.tsx"
import { formatPace } from "../ui/format.ts"
import type { Memory } from "./memory.ts"
import { words } from "./words.ts"

type Latency = NonNullable<Cluster["traffic"]>["redirects"]

const latencyText = ({ p50Ms, p99Ms }: Latency) =>
  p50Ms === null || p99Ms === null
    ? words().noLatency
    : fill(words().latency, { p50: formatPace(p50Ms), p99: formatPace(p99Ms) })

const width = 120
const height = 28

/** The last minute, to look at; the number beside it is what it has come to. */
const Spark = ({ values }: { readonly values: ReadonlyArray<number> }) => {
  const max = Math.max(1, ...values)
  const points = values.map((value, index) => {
    const x = width - (values.length - 1 - index) * (width / 59)
    return `${x.toFixed(1)},${(height - 1 - (value / max) * (height - 3)).toFixed(1)}`
  })
  return (
    <svg class="spark" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={`M0 ${height - 0.5}H${width}`} />
      <polyline points={points.join(" ")} />
    </svg>
  )
}

/** What all nodes answer, over the last ten seconds. */
export const Traffic = ({
  paces,
  traffic
}: {
  readonly traffic: Cluster["traffic"]
  readonly paces: Memory["paces"]
}) => (
  <section aria-labelledby="traffic">
    <h2 id="traffic" class="visually-hidden">
      {words().traffic}
    </h2>
    <dl class="traffic">
      <div>
        <dt>{words().requests}</dt>
        <dd class="figure">{formatPace(traffic?.requestsPerSecond ?? null)}</dd>
        <dd>
          <Spark values={paces.map(({ requests }) => requests)} />
        </dd>
      </div>
      <div>
        <dt>{words().linksMade}</dt>
        <dd class="figure">{formatPace(traffic?.linksPerSecond ?? null)}</dd>
        <dd class="soft">{traffic && latencyText(traffic.creates)}</dd>
      </div>
      <div>
        <dt>{words().redirects}</dt>
        <dd class="figure">{formatPace(traffic?.redirectsPerSecond ?? null)}</dd>
        <dd class="soft">{traffic && latencyText(traffic.redirects)}</dd>
      </div>
      <div class={(traffic?.errorsPerSecond ?? 0) > 0 ? "bad" : ""}>
        <dt>{words().errors}</dt>
        <dd class="figure">{formatPace(traffic?.errorsPerSecond ?? null)}</dd>
        <dd class="soft">{words().errorsHint}</dd>
      </div>
    </dl>
  </section>
)
