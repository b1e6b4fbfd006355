import Negotiator from "negotiator"
import { type Answer, flatten } from "./Answer.ts"
import type { Request } from "./Request.ts"
import { plainPolicy } from "./StrictHeaders.ts"

/** Makes text safe within HTML, in content and in quoted attributes. */
export const escape = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** What a page says: `title` and `text` are escaped here, `html` (what follows the text) must be HTML already. */
export interface PageContent {
  readonly title: string
  readonly text: string
  readonly html?: string
}

/** A page without scripts or styles, which search engines should not keep. */
export const make = ({ html = "", text, title }: PageContent): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escape(title)}</title>
</head>
<body>
<h1>${escape(title)}</h1>
<p>${escape(text)}</p>
${html}</body>
</html>
`

/** Whether a client asks for JSON rather than for a page. */
export const prefersJson = ({ headers }: Pick<Request, "headers">): boolean => {
  const accepted = new Negotiator({ headers: { ...headers } }).mediaType([
    "text/html",
    "application/problem+json",
    "application/json"
  ])
  return accepted !== undefined && accepted !== "text/html"
}

/** The answer that shows a page to clients that do not ask for JSON. */
export const answer = (
  html: string,
  status: number,
  headers: Readonly<Record<string, string>> = {}
): Answer => ({
  status,
  headers: flatten({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": plainPolicy,
    vary: "accept",
    ...headers
  }),
  body: html
})
