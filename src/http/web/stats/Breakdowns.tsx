import type { Stats } from "../api/Types.ts"
import { Breakdown } from "./Breakdown.tsx"
import { CountryMap } from "./map/CountryMap.tsx"
import { cityOf, countryOf, isCountry, nameOf, referrerOf, targetOf, utmOf } from "./names.ts"
import { words } from "./words.ts"

const utmDimensions = ["utmSources", "utmMediums", "utmCampaigns"] as const

/** Where visits come from, and by what: first by country where any is known, since a map takes the whole width. */
export const Breakdowns = ({ stats }: { readonly stats: Stats }) => {
  const t = words()
  const { countries } = stats
  const isMapped = countries.some(({ value }) => isCountry(value))
  return (
    <div class="breakdowns">
      {isMapped && (
        <Breakdown
          title={t.countries}
          values={countries}
          nameOf={countryOf}
          picture={<CountryMap countries={countries} />}
        />
      )}
      {stats.targets && <Breakdown title={t.targets} values={stats.targets} nameOf={targetOf} />}
      <Breakdown title={t.referrers} values={stats.referrers} nameOf={referrerOf} />
      {!isMapped && <Breakdown title={t.countries} values={countries} nameOf={countryOf} />}
      {stats.cities && <Breakdown title={t.cities} values={stats.cities} nameOf={cityOf} />}
      <Breakdown title={t.browsers} values={stats.browsers} nameOf={nameOf} />
      <Breakdown title={t.os} values={stats.os} nameOf={nameOf} />
      <Breakdown title={t.devices} values={stats.devices} nameOf={nameOf} />
      {utmDimensions.map((dimension) => {
        const values = stats[dimension]
        return values && <Breakdown key={dimension} title={t[dimension]} values={values} nameOf={utmOf} />
      })}
    </div>
  )
}
