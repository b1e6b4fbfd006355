// Finds texts for people in a module of the web page, which belong into the files of messages.

import { parseAst, transformWithEsbuild } from "vite"

type Node = Readonly<Record<string, unknown>> & { readonly type: string }

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string"

/** Attributes and properties of components whose strings nobody reads. All others have texts. */
const technical = new Set(
  [
    "accept autocapitalize autocomplete autoComplete class colorScheme d fill for href id inputMode icon key",
    "fields file name path pathLength points preserveAspectRatio rel role scope shape state step style target to type value",
    "viewBox stroke tabs aria-labelledby aria-describedby aria-hidden aria-live aria-current data-testid data-key",
    "data-node data-state data-host data-webhook transform"
  ].flatMap((names) => names.split(" "))
)

/** Two words, or a capital word that stands alone. Names such as `KeyRange` are none, nor are addresses. */
const isProse = (text: string): boolean =>
  !/^https?:\/\//.test(text) &&
  (/\p{L}{2,}[,.:;]? \p{L}/u.test(text) || /^\p{Lu}\p{Ll}+([ .,:!?…]|$)/u.test(text))

const hasLetters = (text: string): boolean => /\p{L}/u.test(text) && !/^https?:\/\//.test(text)

/** The strings of a node itself. */
const textsOf = (node: Node): ReadonlyArray<string> => {
  if (node.type === "Literal" && typeof node["value"] === "string") return [node["value"]]
  if (node.type !== "TemplateLiteral") return []
  return (node["quasis"] as ReadonlyArray<{ readonly value: { readonly cooked: string } }>).map(
    ({ value }) => value.cooked
  )
}

const nameOf = (key: unknown): string => {
  const { name, value } = key as { readonly name?: string; readonly value?: string }
  return name ?? String(value)
}

const isElement = ({ callee, type }: Node): boolean =>
  type === "CallExpression" && isNode(callee) && /^_?jsxs?$/.test(String(callee["name"]))

/** What is shown of an expression in a place for texts. */
const shownOf = (value: unknown): ReadonlyArray<Node> => {
  if (!isNode(value)) return []
  switch (value.type) {
    case "ConditionalExpression":
      return [...shownOf(value["consequent"]), ...shownOf(value["alternate"])]
    case "LogicalExpression":
    case "BinaryExpression":
      // What is compared is not shown.
      return value.type === "BinaryExpression" && value["operator"] !== "+"
        ? []
        : [...shownOf(value["left"]), ...shownOf(value["right"])]
    case "ArrayExpression":
      return (value["elements"] as ReadonlyArray<unknown>).flatMap(shownOf)
    default:
      return [value]
  }
}

/** The texts for people that are in a module's source. */
export const hardCodedTexts = async (source: string, file: string): Promise<ReadonlyArray<string>> => {
  // Without its types, and with its markup as calls.
  const { code } = await transformWithEsbuild(source, file, {
    loader: file.endsWith("x") ? "tsx" : "ts",
    jsx: "automatic",
    jsxImportSource: "preact",
    sourcemap: false
  })
  const found: Array<string> = []
  const seen = new Set<unknown>()
  const note = (node: Node, isText: (text: string) => boolean) => {
    if (seen.has(node)) return
    seen.add(node)
    found.push(...textsOf(node).filter(isText))
  }
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit)
    if (!isNode(value)) return undefined
    if (/^(Import|Export(All|Named))/.test(value.type) && isNode(value["source"])) return undefined
    if (isElement(value)) {
      const [, props] = value["arguments"] as ReadonlyArray<Node>
      for (const property of (props?.["properties"] ?? []) as ReadonlyArray<Node>) {
        if (property.type !== "Property") {
          visit(property)
          continue
        }
        if (technical.has(nameOf(property["key"]))) continue
        for (const shown of shownOf(property["value"])) note(shown, hasLetters)
        visit(property["value"])
      }
      return undefined
    }
    // What is compared, and the names of properties, nobody reads.
    if (value.type === "BinaryExpression" && value["operator"] !== "+") return undefined
    if (value.type === "Property") return visit(value["value"])
    if (value.type === "MemberExpression") return visit(value["object"])
    note(value, isProse)
    for (const [name, inner] of Object.entries(value)) if (name !== "key") visit(inner)
    return undefined
  }
  visit(parseAst(code))
  return found
}
