import * as Accounts from "../api/Accounts.ts"
import { formatMoment, formatNumber } from "../ui/format.ts"
import { useLoaded } from "../ui/useLoaded.ts"

/** What is left of one's quotas, where one has any. */
export const Quotas = () => {
  const me = useLoaded(Accounts.me, [])
  if (me.state !== "loaded") return null
  const { createsPerMinute, redirectsPerDay } = me.value.quotas
  const quotas = [
    ["Links made this minute", createsPerMinute],
    ["Redirects today", redirectsPerDay]
  ] as const
  if (quotas.every(([, quota]) => quota === null)) return null
  return (
    <section class="card quotas">
      <h2>Quotas</h2>
      {quotas.map(
        ([name, quota]) =>
          quota && (
            <div key={name} class="progress">
              <div class="progress-text">
                <span>{name}</span>
                <span>
                  {formatNumber(quota.used)} of {formatNumber(quota.limit)}, until{" "}
                  {formatMoment(quota.resetAt)}
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
