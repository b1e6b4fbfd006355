import { Command } from "@effect/cli"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Console, Effect, Layer } from "effect"
import { aliasesWithCapitals } from "../../src/admin/CapitalsCommand.ts"
import * as Capitals from "../../src/http/domains/Capitals.ts"
import { qualifiedKey } from "../../src/keys/QualifiedKey.ts"
import { noTargets } from "../../src/model/Domain.ts"
import * as DomainStoreMemory from "../../src/sim/stores/DomainStoreMemory.ts"
import * as LinkStoreMemory from "../../src/sim/stores/LinkStoreMemory.ts"
import { DomainStore } from "../../src/storage/domains/DomainStore.ts"
import { LinkStore } from "../../src/storage/links/LinkStore.ts"
import { linkOf } from "../support/samples/SomeLinks.ts"

const layer = Layer.mergeAll(DomainStoreMemory.layer, LinkStoreMemory.layer, NodeContext.layer)

const command = Command.run(Command.make("admin").pipe(Command.withSubcommands([aliasesWithCapitals])), {
  name: "test",
  version: "0"
})

/** Runs the command: what it printed, or why it was refused. */
const run = (...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const printed: Array<string> = []
    const { unsafe, ...console } = yield* Console.consoleWith(Effect.succeed)
    const quiet = { ...console, unsafe, log: (line: string) => Effect.sync(() => void printed.push(line)) }
    const error = yield* command(["node", "admin", "aliases-with-capitals", ...args]).pipe(
      Effect.withConsole(quiet as Console.Console),
      Effect.match({
        onFailure: (error) => ("message" in error ? String(error.message) : "?"),
        onSuccess: () => ""
      })
    )
    return error || printed.join("\n")
  })

/** A domain with these aliases, each newer than the one that precedes it. */
const domainWith = (...keys: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const added = yield* (yield* DomainStore).add(
      { host: "go.example", owners: null, token: "", targets: noTargets, ignoresCase: false, createdAt: 0 },
      1
    )
    const { number } = typeof added === "string" ? yield* Effect.dieMessage(added) : added
    const links = keys.map((key, index) => ({
      ...linkOf(qualifiedKey({ domain: number, key })),
      custom: true,
      createdAt: index
    }))
    yield* (yield* LinkStore).insertMany([...links, { ...linkOf("Elsewhere"), custom: true }])
    return number
  })

describe("The command line's report of aliases with capital letters", () => {
  it.effect("names them, the newest first, and which collide", () =>
    Effect.gen(function* () {
      yield* domainWith("News", "guide", "Guide", "plain", "PLANS", "Plans")
      expect((yield* run("--domain", "GO.example")).split("\n")).toEqual([
        "Plans  plans  collides",
        "PLANS  plans  collides",
        "Guide  guide  collides",
        "News   news",
        "4 aliases of go.example with capital letters, 3 of them colliding"
      ])
      expect(JSON.parse(yield* run("--domain", "go.example", "--json", "--limit", "4"))).toMatchObject({
        data: [{ key: "Plans" }, { key: "PLANS" }, { key: "Guide" }, { key: "News", collides: false }],
        isComplete: true
      })
    }).pipe(Effect.provide(layer))
  )

  it.effect("names as many as are asked for, and says that there are more", () =>
    Effect.gen(function* () {
      yield* domainWith("One", "Two", "Three")
      expect(yield* run("--domain", "go.example", "--limit", "2")).toBe(
        "Three  three\nTwo    two\n2 aliases of go.example with capital letters, the newest; there are more, 0 of them colliding"
      )
      expect(yield* run("--domain", "other.example")).toBe("There is no further domain other.example.")
    }).pipe(Effect.provide(layer))
  )

  it.effect("reads no more links than it names", () =>
    Effect.gen(function* () {
      const domain = yield* domainWith(..."ABCDEFG")
      const { list } = yield* LinkStore
      const read: Array<number> = []
      const found = yield* Capitals.aliasesWithCapitals(
        (query) => Effect.tap(list(query), ({ links }) => Effect.sync(() => read.push(links.length))),
        domain,
        5
      )
      expect(found).toEqual({ keys: ["G", "F", "E", "D", "C"], isComplete: false })
      expect(read).toEqual([5])
    }).pipe(Effect.provide(layer))
  )
})
