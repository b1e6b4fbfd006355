import { counted, fill } from "../language/fill.tsx"
import { formatClock } from "../ui/format.ts"
import type { Change, Memory } from "./memory.ts"
import { words } from "./words.ts"

const textOf = (change: Change): string => {
  const t = words()
  if (change.kind !== "move") return fill(t.node[change.what], { address: change.address })
  const { actors, from = t.formerNode, to = t.anotherNode } = change
  const some = [
    [t.keyRanges, actors.KeyRange],
    [t.poolShards, actors.PoolShard],
    [t.partitions, actors.UrlMapping]
  ] as const
  const moved = some.filter(([, count]) => count > 0).map(([forms, count]) => counted(forms, count))
  return fill(t.moved, { actors: moved.join(", "), from, to })
}

/** What was seen to happen, the newest first. */
export const Changes = ({ changes }: { readonly changes: Memory["changes"] }) => (
  <section class="card" aria-labelledby="changes">
    <h2 id="changes">{words().whatHappened}</h2>
    <div role="log" aria-labelledby="changes">
      {changes.length === 0 ? (
        <p class="soft">{words().nothingHappened}</p>
      ) : (
        <ol class="changes">
          {changes.map((change) => (
            <li key={JSON.stringify(change)} class={change.kind}>
              <time dateTime={change.at}>{formatClock(change.at)}</time>
              <span>{textOf(change)}</span>
            </li>
          ))}
        </ol>
      )}
    </div>
  </section>
)
