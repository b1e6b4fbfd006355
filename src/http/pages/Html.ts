/** A piece of HTML. Only {@link markup} makes one, so no text enters a page unescaped. */
class Piece {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** See {@link Piece}. */
export type Html = Piece

/** A value in a template: text and numbers are escaped, HTML is not, `undefined` is left out. */
export type Value = string | number | Html | ReadonlyArray<Html> | undefined

/** Makes text safe in content and in quoted attributes. */
const escape = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const textOf = (value: Value): string => {
  if (value === undefined) return ""
  if (Array.isArray(value)) return value.map(textOf).join("")
  return value instanceof Piece ? value.text : escape(String(value))
}

/**
 * A template of HTML: its own text is taken as it is, its values are escaped. Attribute values need double quotes. The scheme of an address is for the caller
 * to check.
 */
export const markup = (written: TemplateStringsArray, ...values: ReadonlyArray<Value>): Html =>
  new Piece(
    written.reduce((text, part, index) => `${text}${index === 0 ? "" : textOf(values[index - 1])}${part}`, "")
  )
