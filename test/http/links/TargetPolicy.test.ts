import { describe, expect, it } from "@effect/vitest"
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Effect, Layer, Option } from "effect"
import { layer, TargetPolicy } from "../../../src/http/links/TargetPolicy.ts"
import { expectProblem, refuses } from "../../support/http/Problems.ts"
import { create, get, withService } from "../../support/TestService.ts"

const policyOf = (options: { readonly blocked?: string; readonly blockPrivate?: boolean }) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const file = yield* fs.makeTempFileScoped()
    yield* fs.writeFileString(file, options.blocked ?? "")
    const context = yield* Layer.build(
      layer({
        blocklistFile: options.blocked === undefined ? Option.none() : Option.some(file),
        blockPrivate: options.blockPrivate ?? false
      })
    )
    return yield* Effect.provide(TargetPolicy, context)
  })

describe("TargetPolicy", () => {
  const urls = [
    "https://evil.example/",
    "https://www.evil.example:8443/a?b#c",
    "https://192.0.2.7/",
    "http://[::1]:9000/",
    "http://router/",
    "http://[::127.0.0.1]/",
    "http://kubernetes.default.svc/",
    "http://168.63.129.16/",
    "https://example.com/?https://evil.example/",
    "https://example.com/#@evil.example"
  ]
  const refused = (options: Parameters<typeof policyOf>[0]) =>
    Effect.map(policyOf(options), ({ faultOf }) => urls.filter((url) => faultOf(url) !== undefined))

  it.scoped("lets links lead anywhere unless told otherwise", () =>
    Effect.gen(function* () {
      expect(yield* refused({})).toEqual([])
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("refuses what is on the blocklist, by the target's host alone", () =>
    Effect.gen(function* () {
      expect(yield* refused({ blocked: "evil.example\n" })).toEqual(urls.slice(0, 2))
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("refuses private networks when told to", () =>
    Effect.gen(function* () {
      expect(yield* refused({ blockPrivate: true })).toEqual(urls.slice(2, 8))
      expect(yield* refused({ blockPrivate: true, blocked: "evil.example\n" })).toEqual(urls.slice(0, 8))
    }).pipe(Effect.provide(NodeContext.layer))
  )
})

const forbidden = new Set<string>()
const fault = "leads to a host that is blocked here (by this test)"
const targets = {
  faultOf: (url: string) => (forbidden.has(new URL(url).hostname) ? fault : undefined)
}

withService("a forbidden target", { targets }, (it) => {
  it.effect("is refused, and nothing is stored", () =>
    Effect.gen(function* () {
      forbidden.add("evil.example")
      yield* refuses(create({ url: "https://EVIL.example/a" }), "blocked-target", [
        "url",
        /^leads to a host that is blocked here \(by this test\)$/
      ])
    })
  )

  it.effect("makes the links gone that led to it already, for as long as it is one", () =>
    Effect.gen(function* () {
      yield* create({ url: "https://later.example/", alias: "led" })
      expect((yield* get("/led")).status).toBe(302)
      forbidden.add("later.example")
      expectProblem(yield* get("/led"), "gone")
      forbidden.delete("later.example")
      expect((yield* get("/led")).status).toBe(302)
    })
  )

  it.effect("is this service under the name that the client uses for it", () =>
    Effect.gen(function* () {
      yield* refuses(
        create({ url: "http://other.example:8080/a" }, { host: "other.example:8080" }),
        "blocked-target",
        ["url", /this service itself/]
      )
      expect((yield* create({ url: "http://other.example:8080/a" })).status).toBe(201)
    })
  )
})
