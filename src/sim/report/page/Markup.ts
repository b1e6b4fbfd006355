/** Text that is markup already. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** What can stand in a template: text and numbers are escaped, markup stands as it is, lists one after the other. */
export type Part = string | number | Markup | ReadonlyArray<Markup>

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

const textOf = (part: Part): string => {
  if (part instanceof Markup) return part.text
  if (typeof part === "object") return part.map(({ text }) => text).join("")
  return String(part).replaceAll(/[&<>"']/g, (character) => escapes[character]!)
}

/** A template of HTML or SVG, with everything escaped that is put into it; attributes are to be quoted. */
export const markup = (strings: TemplateStringsArray, ...parts: ReadonlyArray<Part>): Markup =>
  new Markup(strings.reduce((text, string, index) => text + textOf(parts[index - 1] ?? "") + string))
