import { computed } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { formatNumber } from "../ui/format.ts"
import { locale } from "./Language.ts"

/** A text with its placeholders filled, as `{name}`. */
export const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))

const plurals = computed(() => new Intl.PluralRules(locale.value))

/** The forms of a text by number: of the plural categories of the Unicode CLDR those that its language has. */
export type Forms = Readonly<Record<string, string>> & { readonly other: string }

/** The form of a text for a number, with that as `{count}`. */
export const counted = (
  forms: Forms,
  count: number,
  values: Readonly<Record<string, string | number>> = {}
): string => {
  const category = plurals.value.select(count)
  return fill(forms[category] ?? forms.other, { count: formatNumber(count), ...values })
}

const conjunction = computed(() => new Intl.ListFormat(locale.value, { type: "conjunction" }))
const disjunction = computed(() => new Intl.ListFormat(locale.value, { type: "disjunction" }))

/** One, two and three. */
export const allOf = (parts: ReadonlyArray<string>): string => conjunction.value.format(parts)

/** One, two or three. */
export const anyOf = (parts: ReadonlyArray<string>): string => disjunction.value.format(parts)

/** A text whose tagged parts, such as `<link>here</link>`, are made elements. */
export const rich = (
  text: string,
  elements: Readonly<Record<string, (inner: string) => ComponentChildren>>
): ReadonlyArray<ComponentChildren> =>
  // Of five parts two are plain: those between the tags, and what `split` gives for the two groups.
  text.split(/(<\w+>.*?<\/\w+>)/).map((part) => {
    const [, name, inner] = /^<(\w+)>(.*)<\/\w+>$/.exec(part) ?? []
    return name === undefined ? part : elements[name]?.(inner!)
  })
