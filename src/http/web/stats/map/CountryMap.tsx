import type { Stats } from "../../api/Types.ts"
import { counted, fill } from "../../language/fill.tsx"
import { formatPercent } from "../../ui/format.ts"
import { useLoaded } from "../../ui/hooks/useLoaded.ts"
import { words as common } from "../../ui/words.ts"
import { countryOf } from "../names.ts"
import { words } from "../words.ts"
import { bounds, shadeOf } from "./shades.ts"
import "./map.css"

/** What the legend says of a shade. */
const shadeNameOf = (shade: number): string => {
  const t = words().map
  const [from, to] = [bounds[shade], bounds[shade + 1]].map((bound) => formatPercent(bound ?? 0)) as [
    string,
    string
  ]
  if (shade === 0) return fill(t.below, { to })
  return fill(shade === bounds.length - 1 ? t.above : t.between, { from, to })
}

interface CountryMapProps {
  readonly countries: Stats["countries"]
}

/** Visits by country, to look at. What it shows, the list of countries beside it says as well, and where the outlines cannot be loaded, alone. */
export const CountryMap = ({ countries }: CountryMapProps) => {
  const loaded = useLoaded(() => import("./outlines.ts"), [])
  if (loaded.state === "failed") return null
  if (loaded.state === "loading") return <div class="map-place skeleton" />
  const { height, outlines, width } = loaded.value
  const total = countries.reduce((sum, { visits }) => sum + visits, 0)
  const visitsOf = new Map(countries.map(({ value, visits }) => [value, visits]))
  return (
    <figure class="map">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={words().map.label}>
        {Object.entries(outlines).map(([code, path]) => {
          const visits = visitsOf.get(code) ?? 0
          return (
            <path key={code} d={path} data-country={code} data-shade={shadeOf(visits / total)}>
              <title>
                {fill(common().named, { name: countryOf(code), text: counted(common().visits, visits) })}
              </title>
            </path>
          )
        })}
      </svg>
      <ul class="legend" aria-hidden="true">
        {bounds.map((_, shade) => (
          <li key={shade}>
            <span data-shade={shade} /> {shadeNameOf(shade)}
          </li>
        ))}
      </ul>
    </figure>
  )
}
