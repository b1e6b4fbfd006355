import Negotiator from "negotiator"
import type { Request } from "./Request.ts"

/** How a client can be answered: a page for people, or JSON for programs. */
export type Form = "page" | "json"

const types = {
  page: ["text/html", "application/problem+json", "application/json"],
  json: ["application/problem+json", "application/json", "text/html"]
} as const

/** The common case: browsers name `text/html` first. */
const isPlain = (accept: string) => accept === "text/html" || accept.startsWith("text/html,")

/** Which form a client prefers by its `Accept` header (RFC 9110, section 12.5.1); `otherwise` if it accepts both alike, or neither. */
export const formFor = ({ headers }: Pick<Request, "headers">, otherwise: Form): Form => {
  const { accept } = headers
  if (accept === undefined || accept === "*/*") return otherwise
  if (isPlain(accept)) return "page"
  const preferred = new Negotiator({ headers: { accept } }).mediaType([...types[otherwise]])
  return preferred === undefined ? otherwise : preferred === "text/html" ? "page" : "json"
}
