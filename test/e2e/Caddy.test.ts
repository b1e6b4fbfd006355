import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { request } from "node:https"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import type { TLSSocket } from "node:tls"
import { freePort } from "../support/FreePort.ts"
import { installServer } from "../support/services/Apt.ts"
import { freshDatabase } from "../support/services/postgres/Postgres.ts"
import { findOrInstall, inFolders } from "../support/services/Programs.ts"
import { Unavailable } from "../support/services/Service.ts"
import { asAdmin, startNode } from "./ClusterNodes.ts"
import { inDatabase, knows, verified } from "./FurtherDomains.ts"
import { root, run } from "./Program.ts"

/** Caddy's program, which is installed where it is missing. */
const caddy = findOrInstall(
  Effect.suspend(() => {
    const [found] = inFolders("caddy", (process.env["PATH"] ?? "").split(delimiter))
    return found === undefined
      ? new Unavailable({ reason: "no `caddy` in the PATH" })
      : Effect.succeed(found.program)
  }),
  installServer({ name: "Caddy", package: "caddy" })
)

/** The Caddyfile of the handbook. */
const documented = () => {
  const text = readFileSync(join(root, "docs/operations.md"), "utf8")
  return /```caddyfile\n([^]*?)```/.exec(text)![1]!
}

/** Runs Caddy by that file in front of a port, with certificates of an authority of its own: gives its port. */
const inFrontOf = (port: number) =>
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "linkmint-caddy-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
    const [https, http] = [yield* freePort, yield* freePort]
    const own = `admin off\nlocal_certs\nskip_install_trust\nhttps_port ${https}\nhttp_port ${http}\ndefault_bind 127.0.0.1\n`
    const file = join(folder, "Caddyfile")
    writeFileSync(
      file,
      documented().replace("{\n", `{\n${own}`).replaceAll("127.0.0.1:8080", `127.0.0.1:${port}`)
    )
    const program = yield* run(yield* caddy, ["run", "--config", file, "--adapter", "caddyfile"], {
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder
    })
    yield* program.printed(/serving initial configuration/)
    return https
  })

/** Asks Caddy for a path of a host: gives its answer, and the host that its certificate is for; `undefined` where there is no certificate. */
const ask = (port: number, host: string, path: string) =>
  Effect.async<
    | {
        readonly certificate: string | undefined
        readonly location: string | undefined
        readonly status: number
      }
    | undefined
  >((resume) => {
    const asked = request(
      {
        host: "127.0.0.1",
        port,
        servername: host,
        path,
        headers: { host },
        rejectUnauthorized: false,
        agent: false
      },
      (answer) => {
        const { subjectaltname } = (answer.socket as TLSSocket).getPeerCertificate()
        answer.resume()
        const { headers, statusCode = 0 } = answer
        resume(
          Effect.succeed({ certificate: subjectaltname, location: headers.location, status: statusCode })
        )
      }
    )
    asked.on("error", () => resume(Effect.succeed(undefined)))
    asked.end()
    return Effect.sync(() => asked.destroy())
  })

describe("Caddy, by the Caddyfile of the handbook", () => {
  it.scopedLive(
    "gets certificates for verified domains and no other host, and its requests reach their domain",
    () =>
      Effect.gen(function* () {
        const database = yield* freshDatabase
        const node = yield* startNode({
          DATABASE_URL: database,
          BASE_URL: "https://short.example",
          TRUSTED_PROXIES: "127.0.0.1"
        })
        const add = (host: string) => node.send({ path: "/api/v1/domains", headers: asAdmin, json: { host } })
        const create = (json: object) => node.send({ path: "/api/v1/links", headers: asAdmin, json })
        yield* add("go.example")
        yield* add("unproven.example")
        yield* inDatabase(database, verified("go.example"))
        yield* knows(node, "go.example", 200)
        yield* create({ url: "https://target.example/default", alias: "guide" })
        yield* create({ url: "https://target.example/go", alias: "guide", domain: "go.example" })

        const port = yield* inFrontOf(node.port)
        expect(yield* ask(port, "go.example", "/guide")).toEqual({
          certificate: "DNS:go.example",
          location: "https://target.example/go",
          status: 302
        })
        expect(yield* ask(port, "short.example", "/guide")).toEqual({
          certificate: "DNS:short.example",
          location: "https://target.example/default",
          status: 302
        })
        for (const host of ["unproven.example", "stranger.example"]) {
          expect([host, yield* ask(port, host, "/guide")]).toEqual([host, undefined])
        }
      }),
    120_000
  )
})
