import type { Cluster } from "../api/Types.ts"
import { fill } from "../language/fill.tsx"
import { formatMoment, formatNumber } from "../ui/format.ts"
import { words } from "./words.ts"

/** That the database had forgotten what it had committed, where it ever had. */
export const Regressions = ({ regressions }: { readonly regressions: Cluster["regressions"] }) =>
  regressions === null || regressions.length === 0 ? null : (
    <section class="card" aria-labelledby="regressions">
      <h2 id="regressions">{words().forgotten}</h2>
      <p>{words().forgottenText}</p>
      <ol class="changes">
        {regressions.map(({ at, dropped, since, skipped }) => (
          <li key={at} class="bad">
            <time dateTime={at}>{formatMoment(at)}</time>
            <span>
              {fill(since === null ? words().forgottenSometime : words().forgottenSince, {
                moment: since === null ? "" : formatMoment(since),
                skipped: formatNumber(skipped),
                dropped: formatNumber(dropped)
              })}
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
