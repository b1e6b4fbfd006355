import type { Cluster } from "../api/Types.ts"
import { formatMoment, formatNumber } from "../ui/format.ts"

/** That the database had forgotten what it had committed, where it ever had. */
export const Regressions = ({ regressions }: { readonly regressions: Cluster["regressions"] }) =>
  regressions === null || regressions.length === 0 ? null : (
    <section class="card" aria-labelledby="regressions">
      <h2 id="regressions">The database had forgotten</h2>
      <p>
        Links that were made, changed or deleted meanwhile may be gone, or as they were before. No key of
        theirs is given to another.
      </p>
      <ol class="changes">
        {regressions.map(({ at, dropped, since, skipped }) => (
          <li key={at} class="bad">
            <time dateTime={at}>{formatMoment(at)}</time>
            <span>
              Nothing is known since {formatMoment(since)}. {formatNumber(skipped)} keys were skipped, and{" "}
              {formatNumber(dropped)} that stood ready were given up.
            </span>
          </li>
        ))}
      </ol>
    </section>
  )
