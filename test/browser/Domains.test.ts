import { Effect, Layer } from "effect"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect } from "vitest"
import { noTargets } from "../../src/model/Domain.ts"
import * as DomainStoreSql from "../../src/storage/domains/DomainStoreSql.ts"
import { DomainStore } from "../../src/storage/domains/DomainStore.ts"
import * as Migrations from "../../src/storage/sql/Migrations.ts"
import * as SqliteClient from "../../src/storage/sql/SqliteClient.ts"
import { asAdmin, create, inBrowserOf, looks, nameOf, row, signedIn } from "./InBrowser.ts"
import { expectSound } from "./Session.ts"

const host = "go.example"

const outer = mkdtempSync(join(tmpdir(), "linkmint-browser-"))
const folder = join(outer, "data")

/** Makes the database of a service that has a verified domain: its proof would have to be in the DNS. */
const prepare = Effect.gen(function* () {
  yield* Migrations.migrate
  const store = yield* DomainStore
  const domain = { host, token: "token", owners: null, targets: noTargets, ignoresCase: false, createdAt: 1 }
  yield* store.add(domain, 1)
  yield* store.verify(1, domain.token, 2)
}).pipe(
  Effect.provide(Layer.provideMerge(DomainStoreSql.layer, SqliteClient.layer(join(folder, "linkmint.db")))),
  Effect.orDie
)

mkdirSync(folder, { mode: 0o700 })
await Effect.runPromise(prepare)

// Before the service is opened, so that it is done when that is closed.
afterAll(() => rmSync(outer, { recursive: true, force: true }))

const inBrowser = inBrowserOf("Links in further domains are", { DATA_DIR: folder })

describe("a link in a further domain", () => {
  inBrowser(
    "is shown with its domain, and told from the default domain's link of its key",
    async (session) => {
      for (const [at, look] of looks.entries()) {
        const alias = `twin-${at}`
        const [here, there] = [`https://example.com/${alias}/here`, `https://example.com/${alias}/there`]
        await create(session, { url: here, alias, tags: [alias] })
        await create(session, { url: there, alias, tags: [alias], domain: host })
        const page = await signedIn(session, `/app/links?tag=${alias}`, look)
        await page.getByText("2 links", { exact: true }).waitFor()
        const rows = row(page, alias)
        const inDomain = rows.filter({ hasText: host })
        await expect.poll(() => inDomain.count()).toBe(1)
        await expectSound(page, `a list with a further domain ${nameOf(look)}`)

        await inDomain.getByRole("link", { name: "statistics of" }).click()
        await page.getByText(host).waitFor()
        expect(await page.getByRole("link", { name: `${alias}/there` }).count()).toBe(1)
        await expectSound(page, `statistics in a further domain ${nameOf(look)}`)
        await page.goBack()

        await inDomain.getByRole("button", { name: `Edit ${alias}` }).click()
        await page.getByRole("dialog").getByLabel("Title").fill("Renamed")
        await page.getByRole("dialog").getByRole("button", { name: "Save" }).click()
        await inDomain.getByText("Renamed", { exact: true }).waitFor()
        const read = async (query: string) =>
          (await (await asAdmin(session, "GET", `/api/v1/links/${alias}${query}`)).json()) as object
        expect(await read("")).toMatchObject({ url: here, title: null })
        expect(await read(`?domain=${host}`)).toMatchObject({ url: there, title: "Renamed" })

        await inDomain.getByRole("button", { name: `Delete ${alias}` }).click()
        await inDomain.waitFor({ state: "detached" })
        expect(await rows.count()).toBe(1)
        // Who leaves has not undone it.
        await page.goto("about:blank")
        const statusOf = async (query: string) =>
          (await asAdmin(session, "GET", `/api/v1/links/${alias}${query}`)).status
        await expect.poll(() => statusOf(`?domain=${host}`)).toBe(404)
        expect(await statusOf("")).toBe(200)
        await page.context().close()
      }
    }
  )
})
