import { useState } from "preact/hooks"
import type { Cluster } from "../api/Types.ts"
import { me } from "../app/Session.ts"
import { fill } from "../language/fill.tsx"
import { told } from "../language/told.ts"
import { formatClock } from "../ui/format.ts"
import { Empty, Failure, Loading } from "../ui/States.tsx"
import { Changes } from "./Changes.tsx"
import { Forecast } from "./Forecast.tsx"
import { Ledger } from "./Ledger.tsx"
import type { Memory } from "./memory.ts"
import { Nodes } from "./Nodes.tsx"
import { Pools } from "./Pools.tsx"
import { Regressions } from "./Regressions.tsx"
import { Traffic } from "./Traffic.tsx"
import { connection, memory, useWatching } from "./watching.ts"
import { words } from "./words.ts"
import "./cluster.css"

const Connection = ({ at }: { readonly at: string }) => {
  const isLive = connection.value.state === "live"
  return (
    <p class={`pulse ${isLive ? "live" : "broken"}`} role="status">
      {isLive ? words().live : fill(words().reconnecting, { time: formatClock(at) })}
    </p>
  )
}

/** What of the database's settings can lose links; nothing where none can. */
const DatabaseWarnings = ({ warnings }: { readonly warnings: Cluster["databaseWarnings"] }) =>
  warnings === null || warnings.length === 0 ? null : (
    <section class="card" aria-labelledby="database">
      <h2 id="database">{words().canBeLost}</h2>
      {warnings.map((warning) => (
        <p key={warning}>{told(warning)}</p>
      ))}
    </section>
  )

const Picture = ({ memory }: { readonly memory: Memory }) => {
  const { changes, moved, paces, picture } = memory
  return (
    <>
      <header class="page-header">
        <h1>{words().title}</h1>
        <Connection at={picture.at} />
      </header>
      <Regressions regressions={picture.regressions} />
      <DatabaseWarnings warnings={picture.databaseWarnings} />
      <Traffic traffic={picture.traffic} paces={paces} />
      <Nodes picture={picture} moved={moved} />
      <div class="columns">
        <div>
          <Changes changes={changes} />
          <Pools pools={picture.pools} />
        </div>
        <div>
          <Ledger ledger={picture.ledger} note={picture.ledgerNote} />
          <Forecast forecast={picture.forecast} ranges={picture.ranges} />
        </div>
      </div>
    </>
  )
}

const Watched = () => {
  const [turn, setTurn] = useState(0)
  useWatching(turn)
  const { value } = connection
  if (value.state === "refused") return <Failure error={value.error} retry={() => setTurn(turn + 1)} />
  return memory.value === undefined ? <Loading rows={5} /> : <Picture memory={memory.value} />
}

/** The cluster as it is at this second: who runs, who owns which actor, and where all keys are. */
export const ClusterPage = () =>
  me.value?.admin === true ? (
    <Watched />
  ) : (
    <Empty title={words().forAdministrators} isPage>
      <p>{words().forAdministratorsText}</p>
    </Empty>
  )
