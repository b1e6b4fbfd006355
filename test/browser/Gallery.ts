// All pages for visitors, with the built stylesheet, including those that a healthy service never shows.

import { Effect } from "effect"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import type { Answer } from "../../src/http/exchange/Answer.ts"
import * as Problem from "../../src/http/exchange/Problem.ts"
import * as StrictHeaders from "../../src/http/exchange/StrictHeaders.ts"
import { builtIn } from "../../src/http/pages/Words.ts"
import { make, type PageName } from "../../src/http/pages/VisitorPages.ts"
import * as WebAssets from "../../src/http/pages/WebAssets.ts"

const preview = {
  key: "spring-sale",
  shortUrl: "https://lnk.example/spring-sale",
  url: "https://shop.example.com/spring?campaign=poster",
  createdAt: "2026-11-21T10:00:00.000Z",
  visits: 1_234
}

/** As wide and as long as they can be. */
const widest = {
  ...preview,
  key: "w".repeat(64),
  shortUrl: `https://${"w".repeat(40)}.example/${"w".repeat(64)}`,
  url: `https://${"w".repeat(63)}.example/${"w".repeat(1_900)}`,
  visits: 1_000_000_000
}

type Pages = ReturnType<typeof make>
type Asked = Parameters<Pages["refuse"]>[0]

const others: Readonly<Record<string, (pages: Pages, asked: Asked) => Answer>> = {
  asked: (pages, asked) => pages.askPassword(asked, "asked"),
  wrong: (pages, asked) => pages.askPassword(asked, "wrong"),
  preview: (pages, asked) => pages.preview(asked, preview),
  "preview-guarded": (pages, asked) => pages.preview(asked, { ...preview, url: null }),
  "preview-widest": (pages, asked) => pages.preview(asked, widest)
}

/** The names of all pages. */
export const names: ReadonlyArray<string> = [
  ...Object.keys(builtIn.get("en").messages),
  ...Object.keys(others)
]

const refused = (pages: Pages, asked: Asked, page: PageName): Answer =>
  pages.refuse(asked, { kind: "not-found", detail: "There is no link with this key.", page })

/** A server of all pages: `/styled/<name>` as where the web page is, `/plain/<name>` as where it is not. */
export interface Gallery {
  readonly base: string
  readonly close: () => Promise<void>
}

const listen = (server: Server) =>
  new Promise<Gallery>((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      const close = () =>
        new Promise<void>((closed) => {
          server.close(() => closed())
          server.closeAllConnections()
        })
      resolve({ base: `http://127.0.0.1:${port}`, close })
    })
  })

/** Opens it. */
export const open = async (): Promise<Gallery> => {
  const { files, visitorFiles } = await Effect.runPromise(
    WebAssets.read("dist/src/http/web", {
      shortHost: "lnk.example",
      anonymousCreates: true,
      signUp: false,
      defaultExpiry: false
    })
  )
  const pages = { styled: make({ files: visitorFiles }), plain: make() }
  const server = createServer((request, response) => {
    const [, room, name = ""] = request.url!.split("/")
    const asset = room === "assets" ? files.get(name) : undefined
    if (asset !== undefined) {
      response.writeHead(200, { "content-type": asset.contentType }).end(asset.bodies.identity)
      return
    }
    const asked: Asked = { url: request.url!, headers: request.headers as Asked["headers"] }
    const kind = room === "plain" ? pages.plain : pages.styled
    const answer = others[name]?.(kind, asked) ?? refused(kind, asked, name as PageName)
    StrictHeaders.complete(answer)
    response.writeHead(Problem.statusOf("not-found"), answer.headers).end(answer.body)
  })
  return listen(server)
}
