import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { type Answer, flatten, ofJson } from "../exchange/Answer.ts"

/** The contract, as an OpenAPI document for programs and as a page for people. */
export interface DocumentTexts {
  readonly openApi: string
  readonly docs: string
}

/** The files of a folder in which the build leaves them. */
export const fileNames: DocumentTexts = { openApi: "openapi.json", docs: "docs.html" }

/** The hashes by which a policy allows exactly the inline scripts of a page. */
const scriptHashes = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/<script>([^]*?)<\/script>/g)].map(
    ([, script]) => `'sha256-${createHash("sha256").update(script!).digest("base64")}'`
  )

/** The policy of a page with inline scripts: only those run, and they connect only to this service. */
const policyOf = (html: string): string =>
  [
    "default-src 'none'",
    ["script-src", ...scriptHashes(html)].join(" "),
    "style-src 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")

/** Reads the documents that the build has left in a folder. */
export const read = (folder: string): Effect.Effect<DocumentTexts> =>
  Effect.promise(async () => {
    const [openApi, docs] = await Promise.all([
      readFile(join(folder, fileNames.openApi), "utf8"),
      readFile(join(folder, fileNames.docs), "utf8")
    ])
    return { openApi, docs }
  })

/** Serves the contract as an OpenAPI document and as a page. */
export const make = ({ docs: html, openApi }: DocumentTexts) => {
  const docs = Buffer.from(html)
  const docsHeaders = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": policyOf(html)
  }
  return {
    openApi: () => Effect.sync(() => ofJson(openApi)),
    docs: () => Effect.sync((): Answer => ({ status: 200, headers: flatten(docsHeaders), body: docs }))
  }
}
