import { shapeOf } from "../../../model/Messages.ts"

/** A template with values, and what it is in another language. */
interface Pattern {
  readonly shape: RegExp
  readonly names: ReadonlyArray<string>
  readonly text: string
}

const placeholders = /\{(\w+)\}/g

const patternOf = ([template, text]: readonly [string, string]): Pattern => ({
  shape: shapeOf(template),
  names: Array.from(template.matchAll(placeholders), ([, name]) => name!),
  text
})

/** How much a template says beside its values. */
const weightOf = (template: string): number => template.replace(placeholders, "").length

/**
 * Translates what the service says: by templates of it in English, and what they are in the other language. What none of them fits stays as it is. `formatNumber` writes numbers from 1,000 on.
 */
export const translator = (
  texts: Readonly<Record<string, string>>,
  formatNumber: (value: number) => string
): ((english: string) => string) => {
  // Those that say more are first: a value can be as long as the rest of another text.
  const whole = new Map(Object.entries(texts))
  const patterns = [...whole]
    .filter(([template]) => template.includes("{"))
    .toSorted(([one], [other]) => weightOf(other) - weightOf(one))
    .map(patternOf)

  const valueOf = (value: string): string =>
    /^\d{1,3}(,\d{3})+$/.test(value) ? formatNumber(Number(value.replaceAll(",", ""))) : value

  return (english) => {
    const text = whole.get(english)
    if (text !== undefined) return text
    for (const { names, shape, text } of patterns) {
      const found = shape.exec(english)
      if (found === null) continue
      return text.replace(placeholders, (_, name: string) => valueOf(found[names.indexOf(name) + 1]!))
    }
    return english
  }
}
