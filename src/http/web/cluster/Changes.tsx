import { formatClock } from "../ui/format.ts"
import type { Memory } from "./memory.ts"

/** What was seen to happen, the newest first. */
export const Changes = ({ changes }: { readonly changes: Memory["changes"] }) => (
  <section class="card" aria-labelledby="changes">
    <h2 id="changes">What happened</h2>
    <div role="log" aria-labelledby="changes">
      {changes.length === 0 ? (
        <p class="soft">Nothing since you began to watch: no node came or went, and no actor moved.</p>
      ) : (
        <ol class="changes">
          {changes.map(({ at, kind, text }) => (
            <li key={`${at} ${text}`} class={kind}>
              <time dateTime={at}>{formatClock(at)}</time>
              <span>{text}</span>
            </li>
          ))}
        </ol>
      )}
    </div>
  </section>
)
