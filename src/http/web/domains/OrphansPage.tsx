import * as Domains from "../api/Domains.ts"
import { domainHostOf } from "../app/Paths.ts"
import { go, here } from "../app/Router.ts"
import { ownHost } from "../app/Settings.ts"
import { fill } from "../language/fill.tsx"
import { StatsOf } from "../stats/StatsOf.tsx"
import { withParameter } from "../stats/ranges.ts"
import { Icon } from "../ui/Icon.tsx"
import { targetNames, words } from "./words.ts"
import "./domains.css"

/** The visits of a domain that no link redirected. */
export const OrphansPage = () => {
  const t = words()
  const host = domainHostOf(here.value.pathname) ?? ""
  // It stands in the address, so that it can be kept and passed on.
  const reason = here.value.searchParams.get("reason") ?? ""
  // From / of the service's own host its page is shown.
  const reasons = targetNames.filter((name) => name !== "home" || host !== ownHost)
  return (
    <>
      <header class="page-header">
        <div>
          <h1>{fill(t.lostTitle, { host })}</h1>
          <p class="soft">{t.lostLead}</p>
        </div>
        <a class="button plain" href="/app/domains">
          <Icon name="back" /> {t.back}
        </a>
      </header>
      <p class="reason">
        <select
          aria-label={t.reason}
          value={reason}
          onChange={({ currentTarget }) => go(withParameter(here.value, "reason", currentTarget.value))}
        >
          <option value="">{t.allReasons}</option>
          {reasons.map((name) => (
            <option key={name} value={name}>
              {t[name]}
            </option>
          ))}
        </select>
      </p>
      <StatsOf
        subject={`${host} ${reason}`}
        pathOf={(asked) => Domains.orphansPath(host, reason, asked)}
        file={`visits-${host}.csv`}
      />
    </>
  )
}
