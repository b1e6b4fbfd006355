import type { Cluster } from "../api/Types.ts"
import { formatCount, formatPace, formatSpan } from "../ui/format.ts"
import { type Memory, nameOf } from "./memory.ts"

type Node = NonNullable<Cluster["nodes"]>[number]
type Actors = NonNullable<Cluster["actors"]>

/** For so long one sees that an actor has moved. */
const freshFor_ms = 15_000

const rows = [
  ["KeyRange", "Key ranges"],
  ["PoolShard", "Pool shards"],
  ["UrlMapping", "Partitions"]
] as const

interface TilesProps {
  readonly actors: Actors
  readonly isFresh: (actor: Actors[number]) => boolean
}

/** Actors by their numbers. */
const Tiles = ({ actors, isFresh }: TilesProps) => (
  <dl class="tiles">
    {rows.map(([kind, name]) => {
      const some = actors.filter(({ actor }) => actor === kind)
      return (
        <div key={kind}>
          <dt>{name}</dt>
          {some.length === 0 ? (
            <dd class="soft">none</dd>
          ) : (
            <dd>
              <ul>
                {some.map((actor) => (
                  <li key={actor.number} class={isFresh(actor) ? "tile fresh" : "tile"}>
                    {actor.number}
                  </li>
                ))}
              </ul>
            </dd>
          )}
        </div>
      )
    })}
  </dl>
)

const stateText = ({ silentSeconds, state, uptimeSeconds }: Node) => {
  if (state === "silent") return `Silent for ${formatSpan(silentSeconds)}`
  return state === "stopping" ? "Stopping" : `Up for ${formatSpan(uptimeSeconds)}`
}

const NodeActors = ({ actors, isFresh, node: { role, state } }: TilesProps & { readonly node: Node }) => {
  if (role === "http") return <p class="soft">Answers requests, and owns no actors.</p>
  if (state === "silent" && actors.length === 0) return <p class="soft">Its actors are elsewhere.</p>
  return <Tiles actors={actors} isFresh={isFresh} />
}

const NodeCard = ({ actors, isFresh, node }: TilesProps & { readonly node: Node }) => {
  const { address, bufferedKeys, id, requestsPerSecond, state, version } = node
  return (
    <li class={`node ${state}`} data-node={address} data-state={state}>
      <h3>
        <span class="lamp" aria-hidden="true" />
        {address}
      </h3>
      <p class="node-state">
        {stateText(node)}
        {version !== null && `, version ${version}`}
      </p>
      <p class="soft">
        {state === "silent"
          ? `It held up to ${formatCount(bufferedKeys, "key")}, lost with it`
          : `${formatPace(requestsPerSecond)} requests a second, ${formatCount(bufferedKeys, "key")} at hand`}
      </p>
      <NodeActors node={node} actors={actors.filter(({ node }) => node === id)} isFresh={isFresh} />
    </li>
  )
}

/** Who runs, and what each owns. */
export const Nodes = ({
  moved,
  picture: { actors, at, nodes }
}: {
  readonly picture: Cluster
  readonly moved: Memory["moved"]
}) => {
  if (nodes === null || actors === null) {
    return <p class="card soft">The database does not tell which nodes there are.</p>
  }
  const isFresh = (actor: Actors[number]) => {
    const when = moved.get(nameOf(actor))
    return when !== undefined && Date.parse(at) - Date.parse(when) < freshFor_ms
  }
  const adrift = actors.filter(({ node }) => node === null)
  return (
    <section class="nodes" aria-labelledby="nodes">
      <h2 id="nodes">{formatCount(nodes.length, "node")}</h2>
      <ul>
        {nodes.map((node) => (
          <NodeCard key={node.id} node={node} actors={actors} isFresh={isFresh} />
        ))}
        {adrift.length > 0 && (
          <li class="node adrift">
            <h3>Between nodes</h3>
            <p class="node-state">{formatCount(adrift.length, "actor")} without an owner just now</p>
            <Tiles actors={adrift} isFresh={() => false} />
          </li>
        )}
      </ul>
    </section>
  )
}
