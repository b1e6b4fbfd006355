/** The parameters by which web analytics tell campaigns apart, as Urchin named them, without their `utm_`. */
export const utmNames = ["source", "medium", "campaign", "term", "content"] as const
/** See {@link utmNames}. */
export type UtmName = (typeof utmNames)[number]

/** Values of some of the parameters; an empty one: the parameter is to be left out. */
export type UtmValues = { readonly [Name in UtmName]?: string }

/** A URL's text in three pieces, of which the last ones have their `?` and `#`. */
const piecesOf = (url: string) => {
  const [, start, query = "", fragment = ""] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url)!
  return { start: start!, parameters: query.slice(1).split("&").filter(Boolean), fragment }
}

/** The text of one parameter as a form reads it: plus is a space, and what is no UTF-8 stands for itself. */
const decoded = (text: string) => {
  const spaced = text.replaceAll("+", " ")
  try {
    return decodeURIComponent(spaced)
  } catch {
    return spaced
  }
}

/** Which of the parameters `name=value` is, if any. */
const nameOf = (parameter: string): UtmName | undefined => {
  const name = decoded(parameter.split("=", 1)[0]!)
  return utmNames.find((one) => name === `utm_${one}`)
}

/** The values that a URL has; of a parameter that it has twice, the first. */
export const utmOf = (url: string): UtmValues => {
  const values: { [Name in UtmName]?: string } = {}
  for (const parameter of piecesOf(url).parameters) {
    const name = nameOf(parameter)
    if (name !== undefined) values[name] ??= decoded(parameter.slice(parameter.indexOf("=") + 1 || Infinity))
  }
  return values
}

/** A URL with other values for the parameters that are named. The rest of it stays as it is, character by character. */
export const withUtm = (url: string, values: UtmValues): string => {
  const { fragment, parameters, start } = piecesOf(url)
  const present = utmOf(url)
  const named = utmNames.filter((name) => values[name] !== undefined && values[name] !== present[name])
  if (named.length === 0) return url
  const kept = parameters.filter((parameter) => !named.some((name) => nameOf(parameter) === name))
  const added = named.flatMap((name) => {
    const value = values[name]!.trim()
    return value === "" ? [] : [new URLSearchParams({ [`utm_${name}`]: value }).toString()]
  })
  const query = [...kept, ...added].join("&")
  return `${start}${query === "" ? "" : `?${query}`}${fragment}`
}
