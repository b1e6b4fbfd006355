// Draws outlines.ts again: `node outlines.mjs countries-110m.json`, which is a file of the npm package world-atlas 2.0.2:
// Natural Earth's countries at 1:110,000,000 as TopoJSON. Natural Earth is in the public domain.

import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** @typedef {[x: number, y: number]} Point East and south, or degrees east and north. */
/** @typedef {{ id?: string, properties: { name: string }, type: "Polygon" | "MultiPolygon", arcs: any }} Country */

/** How wide the whole world is, with its empty edges. */
const whole = 2000

/** The meridian in the middle, in degrees: such that the edge, in the Bering Strait, divides no land. */
const middle = 11

/** A point is left out where the triangle that it makes with its neighbours is smaller, in square units. */
const area_min = 3

/** Is left free at each side, for the lines' own width. */
const margin = 4

/** Smaller rings are left out, unless they are all that a country has. */
const ring_min = 4

/** The countries that have no code in the file: their visits are counted under these.
 * @type {Readonly<Record<string, string>>} */
const codesByName = { Kosovo: "XK", "N. Cyprus": "CY", Somaliland: "SO" }

/** Parts whose visits are counted under another code than that of their country in the file, and a box that has them alone, in degrees. */
const parts = [
  { of: "FR", code: "GF", west: -60, south: 0, east: -50, north: 8 },
  { of: "NO", code: "SJ", west: 5, south: 74, east: 40, north: 82 },
  { of: "RU", code: "UA", west: 32, south: 44, east: 36.8, north: 46.5 }
]

const [, , source] = process.argv
if (source === undefined) throw new Error("Usage: node outlines.mjs countries-110m.json")
/** @type {{ arcs: Array<Array<Point>>, transform: { scale: Point, translate: Point }, objects: { countries: { geometries: Array<Country> } } }} */
const topology = JSON.parse(readFileSync(source, "utf8"))
const { scale, translate } = topology.transform
const countries = topology.objects.countries.geometries

/** All rings of a country, those around others within it too. An arc whose number is negative is gone backwards.
 * @param {Country} country
 * @returns {Array<Array<number>>} */
const ringsOf = ({ arcs, type }) => (type === "Polygon" ? [arcs] : arcs).flat()

/** The lines that countries share, in degrees. In the file each point is a step from the one before. */
const arcs = topology.arcs.map((steps) => {
  let [x, y] = [0, 0]
  return steps.map(([dx, dy]) => {
    x += dx
    y += dy
    return /** @type {Point} */ ([x * scale[0] + translate[0], y * scale[1] + translate[1]])
  })
})

/** The points of a ring. Each line begins where the former ends.
 * @param {Array<number>} ring
 * @param {Array<Array<Point>>} lines */
const pointsOf = (ring, lines) =>
  ring.flatMap((arc) => (arc < 0 ? (lines[~arc] ?? []).toReversed() : (lines[arc] ?? [])).slice(0, -1))

// What lies on both sides of the 180th meridian goes on behind it.
for (const ring of countries.flatMap(ringsOf)) {
  const longitudes = pointsOf(ring, arcs).map(([longitude]) => longitude)
  if (Math.min(...longitudes) > -150 || Math.max(...longitudes) < 150) continue
  for (const arc of ring) {
    for (const point of arcs[arc < 0 ? ~arc : arc] ?? []) if (point[0] < 0) point[0] += 360
  }
}

/** The Equal Earth projection (Šavrič, Patterson, Jenny 2018), in radians: shades need areas that can be compared.
 * @param {Point} degrees
 * @returns {Point} */
const equalEarth = ([longitude, latitude]) => {
  const [a1, a2, a3, a4] = /** @type {const} */ ([1.340264, -0.081106, 0.000893, 0.003796])
  const theta = Math.asin((Math.sqrt(3) / 2) * Math.sin((latitude * Math.PI) / 180))
  const [t2, t6] = /** @type {const} */ ([theta ** 2, theta ** 6])
  const slope = 9 * a4 * t2 * t6 + 7 * a3 * t6 + 3 * a2 * t2 + a1
  const x = (2 * Math.sqrt(3) * ((longitude * Math.PI) / 180) * Math.cos(theta)) / (3 * slope)
  return [x, theta * (a4 * t2 * t6 + a3 * t6 + a2 * t2 + a1)]
}

const unit = whole / (2 * equalEarth([180, 0])[0])

/** @param {Point} degrees
 * @returns {Point} */
const projected = ([longitude, latitude]) => {
  const [x, y] = equalEarth([longitude - middle, latitude])
  return [Math.round(x * unit), Math.round(-y * unit)]
}

/** @param {Array<Point>} points */
const areaOf = (points) => {
  let [sum, last] = [0, points.at(-1)]
  for (const point of points) {
    if (last !== undefined) sum += last[0] * point[1] - point[0] * last[1]
    last = point
  }
  return Math.abs(sum) / 2
}

/** Leaves out the points of a line that matter least (Visvalingam, Whyatt 1993). Its ends stay, so that neighbours still meet.
 * @param {Array<Point>} line */
const simplified = (line) => {
  const points = [...line]
  for (;;) {
    let [least, at] = [area_min, -1]
    for (let index = 1; index < points.length - 1; index++) {
      const area = areaOf(points.slice(index - 1, index + 2))
      if (area < least) [least, at] = [area, index]
    }
    if (at < 0) return points
    points.splice(at, 1)
  }
}

const lines = arcs.map((arc) => simplified(arc.map(projected)))

/** @type {Map<string, Array<Array<Point>>>} */
const ringsByCode = new Map()
for (const country of countries) {
  const { id, properties } = country
  // Codes of three digits are known as well.
  const code = codesByName[properties.name] ?? new Intl.Locale(`und-${id}`).region ?? ""
  if (code === "AQ") continue
  for (const ring of ringsOf(country)) {
    const degrees = pointsOf(ring, arcs)
    const part = parts.find(
      ({ east, north, of, south, west }) =>
        of === code && degrees.every(([x, y]) => x > west && x < east && y > south && y < north)
    )
    const owner = part?.code ?? code
    ringsByCode.set(owner, [...(ringsByCode.get(owner) ?? []), pointsOf(ring, lines)])
  }
}

const kept = [...ringsByCode]
  .map(([code, rings]) => {
    const [largest = [], ...others] = rings.toSorted((one, other) => areaOf(other) - areaOf(one))
    return { code, largest, rings: [largest, ...others.filter((ring) => areaOf(ring) >= ring_min)] }
  })
  .filter(({ largest }) => areaOf(largest) > 0)
  .toSorted((one, other) => (one.code < other.code ? -1 : 1))

const points = kept.flatMap(({ rings }) => rings.flat())
const [left, right] = [Math.min(...points.map(([x]) => x)), Math.max(...points.map(([x]) => x))]
const [top, bottom] = [Math.min(...points.map(([, y]) => y)), Math.max(...points.map(([, y]) => y))]

/** A ring as SVG has it: its first point, and steps from there on.
 * @param {Array<Point>} points */
const pathOf = ([first, ...others]) => {
  if (first === undefined) return ""
  let [x, y] = first
  let steps = ""
  for (const [nextX, nextY] of others) {
    for (const step of [nextX - x, nextY - y]) steps += steps === "" || step < 0 ? step : ` ${step}`
    ;[x, y] = [nextX, nextY]
  }
  return `M${first[0] - left + margin} ${first[1] - top + margin}l${steps}z`
}

writeFileSync(
  join(import.meta.dirname, "outlines.ts"),
  `// Drawn by outlines.mjs. Made with Natural Earth (naturalearthdata.com), which is in the public domain.

/** The size of the world, without Antarctica, in the units of the paths. */
export const [width, height] = [${right - left + 2 * margin}, ${bottom - top + 2 * margin}] as const

/** The outlines of countries by their codes (ISO 3166), as paths of SVG in the Equal Earth projection. Small ones have none. */
export const outlines: Readonly<Record<string, string>> = {
${kept.map(({ code, rings }) => `  ${code}: "${rings.map(pathOf).join("")}"`).join(",\n")}
}
`
)
