import * as Accounts from "../api/Accounts.ts"
import { fill } from "../language/fill.tsx"
import { formatMoment, formatNumber } from "../ui/format.ts"
import { useLoaded } from "../ui/hooks/useLoaded.ts"
import { words } from "./words.ts"

/** What is left of one's quotas, where one has any. */
export const Quotas = () => {
  const t = words()
  const me = useLoaded(Accounts.me, [])
  if (me.state !== "loaded") return null
  const { createsPerMinute, redirectsPerDay } = me.value.quotas
  const quotas = [
    [t.linksMade, createsPerMinute],
    [t.redirectsToday, redirectsPerDay]
  ] as const
  if (quotas.every(([, quota]) => quota === null)) return null
  return (
    <section class="card quotas">
      <h2>{t.quotas}</h2>
      {quotas.map(
        ([name, quota]) =>
          quota && (
            <div key={name} class="progress">
              <div class="progress-text">
                <span>{name}</span>
                <span>
                  {fill(t.used, {
                    used: formatNumber(quota.used),
                    limit: formatNumber(quota.limit),
                    moment: formatMoment(quota.resetAt)
                  })}
                </span>
              </div>
              <meter
                aria-label={name}
                min={0}
                max={quota.limit}
                high={quota.limit * 0.9}
                value={quota.used}
              />
            </div>
          )
      )}
    </section>
  )
}
