import { Either } from "effect"

type Rgb = readonly [number, number, number]

/** An accent colour for light and for dark pages, and what goes with each, as CSS writes colours. */
export interface BrandColor {
  readonly light: Shades
  readonly dark: Shades
}

interface Shades {
  readonly accent: string
  /** Text on the accent. */
  readonly on: string
  /** A surface that has a touch of the accent. */
  readonly wash: string
}

/** What WCAG 2.2 wants of text (success criterion 1.4.3). */
const contrastMin = 4.5

/** The surfaces of `web/styles/tokens.css` that text in the accent stands on, and how much of the accent a wash has. */
const themes = {
  light: { surfaces: ["#eef3ef", "#fbfdfb", "#e3eae5"], on: "#ffffff", wash: 0.08 },
  dark: { surfaces: ["#0c1311", "#131d1a", "#0f1816"], on: "#0c1311", wash: 0.15 }
} as const

const rgbOf = (hex: string): Rgb =>
  [1, 3, 5].map((from) => Number.parseInt(hex.slice(from, from + 2), 16)) as unknown as Rgb

const hexOf = (rgb: Rgb): string =>
  `#${rgb.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`

/** `share` of one colour in another. */
const mixed = (into: Rgb, colour: Rgb, share: number): Rgb =>
  into.map((part, index) => part + (colour[index]! - part) * share) as unknown as Rgb

const luminance = (rgb: Rgb): number => {
  const [red, green, blue] = rgb.map((part) => {
    const value = part / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }) as unknown as Rgb
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** The contrast of two colours, from 1 to 21. */
const contrast = (one: Rgb, other: Rgb): number => {
  const [darker, lighter] = [luminance(one), luminance(other)].toSorted((a, b) => a - b) as [number, number]
  return (lighter + 0.05) / (darker + 0.05)
}

const shadesOf = (accent: Rgb, theme: keyof typeof themes) => {
  const { on, surfaces, wash: share } = themes[theme]
  const wash = mixed(rgbOf(surfaces[0]), accent, share)
  const least = Math.min(
    ...[...surfaces, on]
      .map(rgbOf)
      .concat([wash])
      .map((other) => contrast(accent, other))
  )
  return { least, shades: { accent: hexOf(accent), on, wash: hexOf(wash) } }
}

/** The first of ever lighter shades of a colour that can be read on dark pages. */
const lightened = (colour: Rgb): Rgb => {
  const steps = Array.from({ length: 21 }, (_, step) => mixed(colour, [255, 255, 255], step / 20))
  return steps.find((shade) => shadesOf(shade, "dark").least >= contrastMin)!
}

const pattern = /^(#[0-9a-f]{6})(?:\s*,\s*(#[0-9a-f]{6}))?$/i

/** Reads one colour, or one for light pages and one for dark ones. Without the second it is a lighter shade of the first. Each must be readable. */
export const parse = (text: string): Either.Either<BrandColor, string> => {
  const [, first, second] = pattern.exec(text) ?? []
  if (first === undefined) return Either.left(`must be one or two colours such as #0b5cad, not "${text}"`)
  const light = shadesOf(rgbOf(first), "light")
  const dark = shadesOf(second === undefined ? lightened(rgbOf(first)) : rgbOf(second), "dark")
  const fault = (colour: string, least: number, theme: string, way: string) =>
    Either.left(
      `has ${colour}, whose contrast on ${theme} pages is ${least.toFixed(1)} and must be ${contrastMin}: choose a ${way} one`
    )
  if (light.least < contrastMin) return fault(first, light.least, "light", "darker")
  if (dark.least < contrastMin) return fault(second!, dark.least, "dark", "lighter")
  return Either.right({ light: light.shades, dark: dark.shades })
}

/** The rules by which a stylesheet has this accent. */
export const rulesOf = ({ dark, light }: BrandColor): string => {
  const both = (name: keyof Shades) => `light-dark(${light[name]},${dark[name]})`
  return `:root{--mint:${both("accent")};--on-mint:${both("on")};--mint-wash:${both("wash")};--engraving:${both("accent")}}`
}
