import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect } from "effect"
import { type Answer, flatten, ofJson } from "../exchange/Answer.ts"

/** The contract, as an OpenAPI document for programs and as a page for people. */
export interface RenderedDocuments {
  readonly openApi: string
  readonly docs: Uint8Array
  /** The page's Content-Security-Policy. */
  readonly docsPolicy: string
}

/** The files of a folder in which the build leaves them. */
export const fileNames: Readonly<Record<keyof RenderedDocuments, string>> = {
  openApi: "openapi.json",
  docs: "docs.html",
  docsPolicy: "docs.policy"
}

/** Reads the documents that the build has left in a folder. */
export const read = (folder: string): Effect.Effect<RenderedDocuments> =>
  Effect.promise(async () => {
    const [openApi, docs, docsPolicy] = await Promise.all([
      readFile(join(folder, fileNames.openApi), "utf8"),
      readFile(join(folder, fileNames.docs)),
      readFile(join(folder, fileNames.docsPolicy), "utf8")
    ])
    return { openApi, docs, docsPolicy }
  })

/** Serves the contract as an OpenAPI document and as a page. */
export const make = ({ docs, docsPolicy, openApi }: RenderedDocuments) => {
  const docsHeaders = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": docsPolicy
  }
  return {
    openApi: () => Effect.sync(() => ofJson(openApi)),
    docs: () => Effect.sync((): Answer => ({ status: 200, headers: flatten(docsHeaders), body: docs }))
  }
}
