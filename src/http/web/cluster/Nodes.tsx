import type { Cluster } from "../api/Types.ts"
import { counted, fill } from "../language/fill.tsx"
import { formatPace, formatSpan } from "../ui/format.ts"
import { type Memory, nameOf } from "./memory.ts"
import { words } from "./words.ts"

type Node = NonNullable<Cluster["nodes"]>[number]
type Actors = NonNullable<Cluster["actors"]>

/** For so long one sees that an actor has moved. */
const freshFor_ms = 15_000

const rows = ["KeyRange", "PoolShard", "UrlMapping"] as const

interface TilesProps {
  readonly actors: Actors
  readonly isFresh: (actor: Actors[number]) => boolean
}

/** Actors by their numbers. */
const Tiles = ({ actors, isFresh }: TilesProps) => (
  <dl class="tiles">
    {rows.map((kind) => {
      const some = actors.filter(({ actor }) => actor === kind)
      return (
        <div key={kind}>
          <dt>{words().actor[kind]}</dt>
          {some.length === 0 ? (
            <dd class="soft">{words().noActors}</dd>
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
  const t = words()
  if (state === "silent") return fill(t.silentFor, { span: formatSpan(silentSeconds) })
  return state === "stopping" ? t.stopping : fill(t.upFor, { span: formatSpan(uptimeSeconds) })
}

const NodeActors = ({ actors, isFresh, node: { role, state } }: TilesProps & { readonly node: Node }) => {
  if (role === "http") return <p class="soft">{words().ownsNone}</p>
  if (state === "silent" && actors.length === 0) return <p class="soft">{words().elsewhere}</p>
  return <Tiles actors={actors} isFresh={isFresh} />
}

const NodeCard = ({ actors, isFresh, node }: TilesProps & { readonly node: Node }) => {
  const t = words()
  const { address, bufferedKeys, id, requestsPerSecond, state, version } = node
  return (
    <li class={`node ${state}`} data-node={address} data-state={state}>
      <h3>
        <span class="lamp" aria-hidden="true" />
        {address}
      </h3>
      <p class="node-state">
        {version === null ? stateText(node) : fill(t.ofVersion, { state: stateText(node), version })}
      </p>
      <p class="soft">
        {state === "silent"
          ? counted(t.heldKeys, bufferedKeys)
          : counted(t.keysAtHand, bufferedKeys, { pace: formatPace(requestsPerSecond) })}
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
    return <p class="card soft">{words().noNodes}</p>
  }
  const isFresh = (actor: Actors[number]) => {
    const when = moved.get(nameOf(actor))
    return when !== undefined && Date.parse(at) - Date.parse(when) < freshFor_ms
  }
  const adrift = actors.filter(({ node }) => node === null)
  return (
    <section class="nodes" aria-labelledby="nodes">
      <h2 id="nodes">{counted(words().nodes, nodes.length)}</h2>
      <ul>
        {nodes.map((node) => (
          <NodeCard key={node.id} node={node} actors={actors} isFresh={isFresh} />
        ))}
        {adrift.length > 0 && (
          <li class="node adrift">
            <h3>{words().between}</h3>
            <p class="node-state">{counted(words().withoutOwner, adrift.length)}</p>
            <Tiles actors={adrift} isFresh={() => false} />
          </li>
        )}
      </ul>
    </section>
  )
}
