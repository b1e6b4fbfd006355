import type { ComponentChildren } from "preact"
import { locale } from "./Language.ts"

/** A text with its placeholders filled, as `{name}`. */
export const fill = (text: string, values: Readonly<Record<string, string | number>>): string =>
  text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole))

/** The form of a text for a number, with that as `{count}`. */
export const counted = (
  forms: { readonly one?: string; readonly other: string },
  count: number,
  values: Readonly<Record<string, string | number>> = {}
): string => {
  const category = new Intl.PluralRules(locale.value).select(count)
  const form = (forms as Readonly<Record<string, string>>)[category] ?? forms.other
  return fill(form, { count: new Intl.NumberFormat(locale.value).format(count), ...values })
}

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
