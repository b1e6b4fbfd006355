import { type Band, bandsOf } from "./Emblem.ts"
import { type Html, markup } from "./Html.ts"

/** Units of the drawing for one of a rosette's radius of 100, so that whole numbers are exact enough. */
const scale = 10

/** Gives names that are unique in a drawing. */
const makeNames = () => {
  let count = 0
  return () => `e${(count++).toString(36)}`
}

const turned = (name: string, degrees: number): Html =>
  markup`<use href="#${name}" transform="rotate(${Math.round((degrees % 360) * 100) / 100})"/>`

/** One wave of a band's first line, as a curve that its copies continue. */
const wave = ({ radius, swing, waves }: Band): Html => {
  const point = (phase: number, r: number) => {
    const angle = (2 * Math.PI * phase) / waves
    return [scale * r * Math.cos(angle), scale * r * Math.sin(angle)] as const
  }
  // A quadratic B-spline with these control points: it touches each line between two of them in its middle, at the band's full swing.
  const outer = radius + swing
  const inner = radius - swing
  const corners = [
    point(-1 / 8, inner),
    point(1 / 8, outer),
    point(3 / 8, outer),
    point(5 / 8, inner),
    point(7 / 8, inner),
    point(9 / 8, outer)
  ]
  const written = (x: number, y: number) => `${Math.round(x)} ${Math.round(y)}`
  const [first, second, ...others] = corners.slice(1).map(([x, y], index) => {
    const [fromX, fromY] = corners[index]!
    return written((fromX + x) / 2, (fromY + y) / 2)
  })
  return markup`<path d="M${first}Q${written(...corners[1]!)} ${second}T${others.join("T")}"/>`
}

/** `count` copies of a shape, each turned by `degrees` more than the one before. Copies of copies keep this short. */
const copied = (shape: Html, count: number, degrees: number, name: () => string): Html => {
  const single = name()
  const of = (count: number): Html => {
    if (count === 1) return markup`<g id="${single}">${shape}</g>`
    if (count % 2 === 1) return markup`${of(count - 1)}${turned(single, degrees * (count - 1))}`
    if (count === 2) return markup`${of(1)}${turned(single, degrees)}`
    const half = name()
    return markup`<g id="${half}">${of(count / 2)}</g>${turned(half, (degrees * count) / 2)}`
  }
  return of(count)
}

/** The rosette of a seed, as the web page draws it large, in some 1,600 characters: a band is one wave, copied around the centre into a line, and that line copied. */
export const engraving = (seed: string): Html => {
  const name = makeNames()
  const bands = bandsOf(seed, 2).map((band) => {
    const { lines, step, waves } = band
    const line = copied(wave(band), waves, 360 / waves, name)
    return copied(line, lines, (-360 * step) / waves, name)
  })
  const extent = 100 * scale
  return markup`<svg class="engraving" viewBox="${-extent} ${-extent} ${2 * extent} ${2 * extent}" width="300" height="300" fill="none" stroke="currentColor" stroke-width="3" aria-hidden="true">${bands}</svg>`
}
