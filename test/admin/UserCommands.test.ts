import { Command } from "@effect/cli"
import { NodeContext } from "@effect/platform-node"
import { expect, it } from "@effect/vitest"
import { Console, Effect, Layer } from "effect"
import * as Users from "../../src/accounts/Users.ts"
import { userCommands } from "../../src/admin/UserCommands.ts"
import type { Link } from "../../src/model/Link.ts"
import { AccountStore } from "../../src/storage/accounts/AccountStore.ts"
import * as AccountStoreMemory from "../../src/sim/stores/AccountStoreMemory.ts"
import * as AuditLogMemory from "../../src/sim/stores/AuditLogMemory.ts"
import { LinkRemovals } from "../../src/storage/links/LinkRemovals.ts"
import * as LinkRemovalsMemory from "../../src/sim/stores/LinkRemovalsMemory.ts"
import * as WebhookStoreMemory from "../../src/sim/stores/WebhookStoreMemory.ts"
import { linkOf } from "../support/samples/SomeLinks.ts"
import { keyOf, userOf } from "../support/samples/SomeWebhooks.ts"

const rows = new Map<string, Link>()

const layer = Users.layer.pipe(
  Layer.provide(WebhookStoreMemory.layer),
  Layer.provideMerge(Layer.merge(AccountStoreMemory.layer, AuditLogMemory.layer)),
  Layer.provideMerge(
    Layer.effect(LinkRemovals, LinkRemovalsMemory.makeOver({ links: rows, ended: new Map() }))
  ),
  Layer.provideMerge(NodeContext.layer)
)

const admin = Command.run(Command.make("admin").pipe(Command.withSubcommands([...userCommands])), {
  name: "test",
  version: "0"
})

/** Runs a command: what it printed, or why it was refused. */
const run = (...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const printed: Array<string> = []
    const { unsafe, ...console } = yield* Console.consoleWith(Effect.succeed)
    const quiet = { ...console, unsafe, log: (line: string) => Effect.sync(() => void printed.push(line)) }
    const error = yield* admin(["node", "admin", ...args]).pipe(
      Effect.withConsole(quiet as Console.Console),
      Effect.match({
        onFailure: (error) => ("message" in error ? String(error.message) : "?"),
        onSuccess: () => ""
      })
    )
    return error || printed.join("\n")
  })

it.effect(
  "The command line lists, disables, enables, promotes and deletes users, and the audit log has it",
  () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      yield* accounts.addUser({ ...userOf("admin"), isAdmin: true })
      yield* accounts.addUser(userOf("usr_a"))
      yield* accounts.addKey(keyOf("key_a", "usr_a"), 10)
      const ada = ["--email", "usr_a@example.com"]
      const root = ["--email", "admin@example.com"]

      expect(yield* run("users")).toMatch(/^usr_a {2}usr_a@example\.com {2}user .*\nadmin .*administrator/)
      expect(yield* run("disable-user", ...root)).toMatch(/last administrator/)
      expect(yield* run("withdraw-admin", ...root)).toMatch(/last administrator/)
      expect(yield* run("delete-user", ...root)).toMatch(/service's own account/)
      expect(yield* run("disable-user", "--email", "nobody@example.com")).toMatch(/There is no user/)

      expect(yield* run("disable-user", ...ada)).toMatch(/is disabled/)
      expect(yield* accounts.keyBySecret("secret of key_a")).toBeNull()
      expect(yield* run("users")).toMatch(/usr_a@example\.com {2}disabled/)
      expect(yield* run("enable-user", ...ada)).toMatch(/is enabled/)
      expect(yield* accounts.keyBySecret("secret of key_a")).not.toBeNull()
      expect(yield* run("grant-admin", ...ada)).toMatch(/is an administrator/)
      expect(yield* run("disable-user", ...root)).toMatch(/is disabled/)
      expect(yield* run("delete-user", ...ada)).toMatch(/last administrator/)
      yield* run("enable-user", ...root)
      expect(yield* run("withdraw-admin", ...ada)).toMatch(/is no administrator/)
      expect(yield* run("audit", ...ada)).toContain("user.disabled  by command  to usr_a of usr_a")
      expect(yield* run("delete-user", ...ada)).toMatch(/is gone/)
      expect(yield* accounts.userById("usr_a")).toBeNull()
      const log = yield* run("audit")
      for (const action of [
        "user.disabled",
        "user.enabled",
        "admin.granted",
        "admin.withdrawn",
        "user.deleted"
      ]) {
        expect(log).toContain(`${action}  by command  to usr_a of usr_a`)
      }
    }).pipe(Effect.provide(layer))
)

it.effect("The command line deletes a user's links only when it is told to, and then all of them", () =>
  Effect.gen(function* () {
    const accounts = yield* AccountStore
    rows.clear()
    yield* accounts.addUser({ ...userOf("admin"), isAdmin: true })
    for (const id of ["usr_a", "usr_b"]) {
      yield* accounts.addUser(userOf(id))
      for (let index = 0; index < 2_500; index++) {
        rows.set(`${id}-${index}`, { ...linkOf(`${id}-${index}`), owner: id })
      }
    }
    const live = (owner: string) =>
      [...rows.values()].filter((link) => link.owner === owner && link.deletedAt === null).length
    const remove = (id: string, ...args: ReadonlyArray<string>) =>
      run("delete-user", "--email", `${id}@example.com`, ...args)
    expect(yield* remove("usr_a", "--links", "some")).not.toMatch(/is gone/)
    expect(yield* remove("usr_a")).toMatch(/is gone\. The links redirect as before\./)
    expect(live("usr_a")).toBe(2_500)
    expect(yield* remove("usr_b", "--links", "delete")).toMatch(/is gone\. The links are deleted\./)
    expect([live("usr_a"), live("usr_b")]).toEqual([2_500, 0])
    expect(yield* run("audit")).toContain("links.deleted  by command  to usr_b of usr_b")
    expect(yield* run("audit")).not.toContain("links.deleted  by command  to usr_a")
  }).pipe(Effect.provide(layer))
)
