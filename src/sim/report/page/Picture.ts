import { ms_us, s_us } from "../../world/Time.ts"
import type { Group, Lane, Mark, Span, Steps } from "./Lane.ts"
import { markup, type Markup } from "./Markup.ts"

/** A time as a coordinate: milliseconds. */
const x = (at_us: number) => Number((at_us / ms_us).toFixed(2))

const y = (value: number) => Number(value.toFixed(2))

const spanOf = ({ from_us, look, row, tip, to_us }: Span, { height, rows }: Lane): Markup => {
  // A rectangle without a width is not drawn.
  if (to_us <= from_us) {
    return markup`<path class="mark ${look}" d="M${x(from_us)} 0V${height}"><title>${tip}</title></path>`
  }
  const each = height / rows
  const [top, high] = row === undefined ? [0, height] : [row * each, each]
  return markup`<rect class="${look}" x="${x(from_us)}" y="${y(top + 0.5)}" width="${x(to_us - from_us)}" height="${y(high - 1)}"><title>${tip}</title></rect>`
}

const markOf = ({ at_us, look, tip }: Mark, { height }: Lane): Markup =>
  markup`<path class="mark ${look}" d="M${x(at_us)} 0V${height}"><title>${tip}</title></path>`

const curveOf = ({ look, points }: Steps, { height, top }: Lane): Markup => {
  const at = (value: number) => y(height - (height * value) / top)
  const steps = points.map(({ at_us, value }) => `H${x(at_us)}V${at(value)}`).join("")
  return markup`<path class="${look}" d="M${x(points[0]?.at_us ?? 0)} ${height}${steps}V${height}Z"/>`
}

/** When something happened that concerns every lane. */
export interface Moments {
  readonly end_us: number
  readonly healed_us: number
  readonly violations_us: ReadonlyArray<number>
}

const laneOf = (lane: Lane, { end_us, healed_us, violations_us }: Moments): Markup => {
  const { height, label, levels, marks, spans, steps, tip, top } = lane
  const across = (at_us: number, look: string) => markup`<path class="${look}" d="M${x(at_us)} 0V${height}"/>`
  return markup`
<div class="label" title="${tip}">${label}</div>
<svg class="lane" role="img" aria-label="${tip}" height="${height}" viewBox="0 0 ${x(end_us)} ${height}" preserveAspectRatio="none">
${steps.map((curve) => curveOf(curve, lane))}
${levels.map(({ look, value }) => markup`<path class="${look}" d="M0 ${y(height - (height * value) / top)}H${x(end_us)}"/>`)}
${spans.map((span) => spanOf(span, lane))}
${across(healed_us, "heal")}${violations_us.map((at_us) => across(at_us, "violation"))}
${marks.map((mark) => markOf(mark, lane))}
</svg>`
}

/** A tick about each tenth of the time. */
const ticks = (end_us: number): ReadonlyArray<Markup> => {
  const every_s = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600].find((step) => end_us / s_us / step <= 14) ?? 1_200
  return Array.from({ length: Math.floor(end_us / s_us / every_s) + 1 }, (_, index) => {
    const at_s = index * every_s
    return markup`<span style="left:${y((100 * at_s * s_us) / end_us)}%">${at_s} s</span>`
  })
}

/** The lanes below each other on one axis of time; the page's script zooms into them. */
export const picture = (groups: ReadonlyArray<Group>, moments: Moments): Markup => markup`
<div class="picture" data-end="${x(moments.end_us)}">
<div class="corner"></div><div class="axis">${ticks(moments.end_us)}</div>
${groups.map(
  ({ about, lanes, title }) => markup`
<h3>${title} <small>${about}</small></h3>
${lanes.map((lane) => laneOf(lane, moments))}`
)}
</div>`
