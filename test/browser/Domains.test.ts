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
import { asAdmin, create, inBrowserOf, looks, nameOf, row, signedIn, stateOf } from "./InBrowser.ts"
import { englishOn } from "./English.ts"
import { expectFits, expectSound, expectSoundInBothThemes, follow, newPage, stretchWaits } from "./Session.ts"

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
        await expectSoundInBothThemes(page, `a list with a further domain ${look.viewport.width}`)

        await inDomain.getByRole("link", { name: "statistics of" }).click()
        await page.getByText("No visits in the last 30 days").waitFor()
        await page.getByText(host).waitFor()
        await page.getByRole("link", { name: `${alias}/there` }).waitFor()
        await expectSoundInBothThemes(page, `statistics in a further domain ${look.viewport.width}`)
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
        await expect.poll(() => rows.count()).toBe(1)
        // Who leaves has not undone it.
        await page.goto("about:blank")
        const statusOf = async (query: string) =>
          (await asAdmin(session, "GET", `/api/v1/links/${alias}${query}`)).status
        await expect.poll(() => statusOf(`?domain=${host}`)).toBe(404)
        expect(await statusOf("")).toBe(200)
        await page.close()
      }
    }
  )
})

describe("the page of domains", () => {
  inBrowser(
    "adds a domain, shows how it is proven, edits it, shows its lost visits, and removes it",
    async (session) => {
      for (const [at, look] of looks.entries()) {
        const added = `shop-${at}.example`
        const page = await signedIn(session, "/app/users", look)
        await page
          .getByRole("navigation", { name: "Administration" })
          .getByRole("link", { name: "Domains" })
          .click()
        const rowOf = (name: string) => page.locator(`[data-host="${name}"]`)
        await rowOf(host).getByText("Verified").waitFor()
        await page.getByRole("button", { name: "New domain" }).click()
        const dialog = page.getByRole("dialog")
        const add = dialog.getByRole("button", { name: "Add the domain" })
        expect(await add.isDisabled()).toBe(true)
        await dialog.getByLabel("Host name").fill("192.0.2.1")
        await add.click()
        await dialog.getByText("Must be a host name.").waitFor()
        await dialog.getByLabel("Host name").fill(added)
        await dialog.getByLabel("Some users alone").check()
        await dialog.getByLabel("Users", { exact: true }).fill("nobody@example.com")
        await add.click()
        await dialog.getByText("There is no user nobody@example.com.").waitFor()
        await dialog.getByLabel("Users", { exact: true }).fill("admin@localhost")
        // The domain is there when its targets are refused, and is not added again.
        await dialog.getByLabel("Expired links").fill("ftp://example.com/")
        await add.click()
        await dialog.locator(".fault").waitFor()
        await expectSoundInBothThemes(page, `a new domain ${look.viewport.width}`, "dialog")
        await dialog.getByLabel("Expired links").fill("example.com/expired")
        await add.click()
        await rowOf(added).getByText("For admin@localhost").waitFor()
        await rowOf(added).getByRole("link", { name: "example.com/expired" }).waitFor()
        const { data } = (await (await asAdmin(session, "GET", "/api/v1/domains")).json()) as {
          data: ReadonlyArray<{
            host: string
            proof: { txt: { name: string; value: string }; file: { url: string; content: string } }
          }>
        }
        const { proof } = data.find((domain) => domain.host === added)!
        for (const text of [proof.txt.name, proof.txt.value, proof.file.url, proof.file.content]) {
          await rowOf(added).getByText(text, { exact: true }).waitFor()
        }
        const verify = rowOf(added).getByRole("button", { name: `Verify now: ${added}` })
        // What it says stays until it is dismissed.
        await stretchWaits(page, 60)
        await verify.click()
        await page.getByText(`Neither the TXT record of _linkmint.${added}`).waitFor()
        await page.getByRole("button", { name: "Dismiss" }).click()
        await expectSoundInBothThemes(page, `domains ${look.viewport.width}`)
        // Nothing in a test's reach proves a domain, so the service's answer is given here.
        await page.route(`**/api/v1/domains/${added}/verify`, (route) =>
          route.fulfill({
            json: { ...data.find((domain) => domain.host === added)!, verifiedAt: "2026-11-20T10:00:00.000Z" }
          })
        )
        await verify.click()
        await page.getByText(`${added} is verified`).waitFor()
        await page.getByRole("button", { name: "Dismiss" }).click()
        await rowOf(added).getByText(proof.txt.value).waitFor({ state: "detached" })

        await rowOf(added)
          .getByRole("button", { name: `Edit ${added}` })
          .click()
        await dialog.getByLabel("Expired links").fill("")
        await dialog.getByLabel("Unknown links").fill("https://example.com/unknown")
        await dialog.getByLabel("Capital letters in aliases do not count").check()
        await dialog.getByRole("button", { name: "Save" }).click()
        await rowOf(added).getByRole("link", { name: "example.com/unknown" }).waitFor()
        expect(await rowOf(added).getByRole("link", { name: "example.com/expired" }).count()).toBe(0)
        await rowOf(added).getByText("Ignores case").waitFor()

        await rowOf(host)
          .getByRole("link", { name: `Lost visits of ${host}` })
          .click()
        await page.getByRole("heading", { name: `Lost visits of ${host}` }).waitFor()
        await page.getByText("No visits in the last 30 days").waitFor()
        await page.getByRole("button", { name: "7 days" }).click()
        await page.getByLabel("Reason").selectOption("expired")
        await page.waitForURL(({ search }) => search === "?range=week&reason=expired")
        await page.getByText("No visits in the last 7 days").waitFor()
        await expectSoundInBothThemes(page, `lost visits ${look.viewport.width}`)
        await page.goBack()
        await page.goBack()
        await page.goBack()

        await rowOf(added)
          .getByRole("button", { name: `Remove ${added}` })
          .click()
        await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click()
        await rowOf(added).waitFor({ state: "detached" })
        await page.close()
      }
    }
  )

  inBrowser("shows a visit that no link redirected by its reason", async (session) => {
    await fetch(`${session.base}/no-such-link-here`)
    const lost = async () => {
      const answer = await asAdmin(session, "GET", "/api/v1/domains/localhost/stats")
      return ((await answer.json()) as { readonly total: number }).total
    }
    await expect.poll(lost).toBeGreaterThan(0)
    const page = await signedIn(session, "/app/domains")
    await page.getByRole("link", { name: "Lost visits of localhost" }).click()
    await page.getByText("Busiest day").waitFor()
    await page.getByLabel("Reason").selectOption("expired")
    await page.getByText("No visits in the last 30 days").waitFor()
    await page.close()
  })

  inBrowser("offers a domain for a new link, and filters the list by it", async (session) => {
    for (const [at, look] of looks.entries()) {
      const alias = `in-domain-${at}`
      const page = await signedIn(session, "/", look)
      await page.getByLabel("Long URL").fill("https://example.com/in-domain")
      await page.getByText("Alias, end, password, limits").click()
      await page.getByLabel("Domain", { exact: true }).selectOption(host)
      await page.getByLabel("Alias").fill(alias)
      await expectSoundInBothThemes(page, `a create in a further domain ${look.viewport.width}`)
      await page.getByRole("button", { name: "Shorten", exact: true }).click()
      await page.getByText("0 visits").waitFor()
      expect(await page.getByTestId("short-url").getAttribute("href")).toContain(`//${host}`)
      await follow(page, `/app/links?q=in-domain-${at}`)
      await row(page, alias).waitFor()
      await page.getByLabel("Domain", { exact: true }).selectOption("localhost")
      await page.getByRole("heading", { name: "Nothing found" }).waitFor()
      await page.getByLabel("Domain", { exact: true }).selectOption(host)
      await row(page, alias).waitFor()
      await page.waitForURL(({ searchParams }) => searchParams.get("domain") === host)
      // Its rows were looked at among those of both domains.
      await expectSoundInBothThemes(page, `a list of a further domain ${look.viewport.width}`, ".filter")
      await page.close()
    }
  })

  inBrowser(
    "speaks the language that is chosen, which this browser keeps, as do visitors' pages",
    async (session) => {
      for (const look of looks) {
        // Another browser than that of the other tests, which keep to English.
        const page = await newPage(session, "about:blank", { ...look, storageState: await stateOf(session) })
        const loaded: Array<string> = []
        page.on("request", (request) => loaded.push(request.url()))
        await page.goto("/app/domains")
        await page.getByRole("button", { name: "New domain" }).waitFor()
        // Who reads English loads nothing of other languages.
        expect(loaded.filter((url) => /\/de-/.test(url))).toEqual([])
        await page.getByLabel("Language").selectOption("de")
        await page.getByRole("button", { name: "Neue Domain" }).waitFor()
        await page.reload()
        await page.getByRole("button", { name: "Neue Domain" }).waitFor()
        expect(await page.evaluate("document.documentElement.lang")).toBe("de")
        await page.getByRole("button", { name: "Abmelden" }).waitFor()
        await expectSound(page, `domains in German ${nameOf(look)}`)
        await page.goto("/no-such-link-in-german")
        await page.getByRole("heading", { name: "Link nicht gefunden" }).waitFor()
        await expectSound(page, `no link in German ${nameOf(look)}`)
        await page.context().close()
      }
    }
  )

  inBrowser("is in German where the browser prefers that, in all its places", async (session) => {
    await create(session, {
      url: "https://example.com/deutsch",
      alias: "auf-deutsch",
      tags: ["eins"],
      note: "Notiz",
      rules: [{ url: "https://example.com/de", when: { devices: ["mobile"], countries: ["DE", "AT"] } }]
    })
    const other = await signedIn(session, "/app/links")
    await row(other, "auf-deutsch").waitFor()
    expect(await englishOn(other)).toEqual(expect.arrayContaining(["Newest first", "Edit all that match"]))
    await other.close()
    const storageState = await stateOf(session)
    const page = await newPage(session, "/", { ...looks[1], locale: "de-DE", storageState })
    // What axe looks at does not depend on the language: each place is looked at in English, and two above in German.
    const expectGerman = async (place: string) => {
      await expectFits(page, `${place} in German`)
      expect(await englishOn(page), place).toEqual([])
    }
    await page.getByText("Alias, Ende, Passwort, Grenzen").click()
    await page.getByText("Notiz, Pfade, Vorschaukarte, Statistik, nach dem Ende").click()
    await page.getByText("Kampagne (UTM-Parameter)").click()
    await page.getByText("Regeln und Varianten").click()
    await page.getByRole("button", { name: "Regel hinzufügen" }).click()
    await page.getByLabel("Regel 1 um eine Bedingung erweitern").selectOption("Uhrzeit")
    await page.getByLabel("Mittwoch").waitFor()
    await expectGerman("a new link")
    await page.getByRole("button", { name: "Regel 1 entfernen", exact: true }).click()
    await page.getByLabel("Lange Adresse").fill("https://example.com/neu")
    await page.getByLabel("Alias", { exact: true }).fill("auf-deutsch")
    await page.getByText("Der ist vergeben.").waitFor()
    await page.getByRole("button", { name: "Kürzen", exact: true }).click()
    await page.getByText("„auf-deutsch“ ist vergeben.").waitFor()
    await page.getByLabel("Lange Adresse").fill(session.base)
    await page.getByRole("button", { name: "Kürzen", exact: true }).click()
    await page.getByText(`Führt zu diesem Dienst selbst (${new URL(session.base).host}).`).waitFor()
    await page.getByLabel("Lange Adresse").fill("https://example.com/neu")
    await page.getByLabel("Alias", { exact: true }).fill("noch-einer")
    await page.getByText("Der ist frei.").waitFor()
    await page.getByRole("button", { name: "Kürzen", exact: true }).click()
    await page.getByRole("heading", { name: "Der neue Kurzlink" }).waitFor()
    await page.getByText("0 Besuche").waitFor()
    await page.getByText("Farben, Form, Logo").click()
    await expectGerman("a link that was made")

    for (const [path, heading, dialog] of [
      ["/app/links", "Links", "auf-deutsch bearbeiten"],
      ["/app/links", "Links", "Alle gefundenen bearbeiten"],
      ["/app/links/auf-deutsch/stats", "auf-deutsch"],
      ["/app/stats?from=2026-01-01&to=2026-01-02&bots=exclude", "Statistik"],
      ["/app/add", "Viele anlegen"],
      ["/app/keys", "API-Schlüssel", "Neuer Schlüssel"],
      ["/app/webhooks", "Webhooks", "Neuer Webhook"],
      ["/app/domains", "Domains", "Neue Domain"],
      ["/app/users", "Benutzer"],
      ["/app/audit", "Protokoll"],
      ["/app/account", "Konto"],
      ["/app/nowhere", "Hier ist nichts"]
    ] as const) {
      await follow(page, path)
      await page.getByRole("heading", { name: heading, level: 1 }).waitFor()
      await expect.poll(() => page.locator(".loading").count()).toBe(0)
      if (dialog !== undefined) {
        await page.getByRole("button", { name: dialog }).click()
        await page.getByRole("dialog").waitFor()
      }
      await expectGerman(path)
      if (dialog === undefined) continue
      await page.keyboard.press("Escape")
      await page.getByRole("dialog").waitFor({ state: "detached" })
    }
    await follow(page, "/app/cluster")
    await page.getByText("In Betrieb seit").waitFor()
    expect(await englishOn(page)).toEqual([])

    // What the service composes: results of many links, lines of an import, a refusal with values.
    const tags = Array.from({ length: 20 }, (_, n) => `voll-${n}`)
    await create(session, { url: "https://example.com/voll", alias: "voll", tags })
    await page.goto("/app/links?tag=voll-0")
    await page.getByRole("button", { name: "Alle gefundenen bearbeiten" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Schlagwörter entfernen").fill("")
    await dialog.getByLabel("Schlagwörter hinzufügen").fill("eins mehr")
    await dialog.getByRole("button", { name: "Zählen" }).click()
    await dialog.getByRole("button", { name: "1 Link ändern" }).click()
    await dialog.getByText("/voll: tags darf höchstens 20 Schlagwörter haben").waitFor()

    await page.goto("/app/add")
    await page.getByLabel("Je Zeile eine Adresse").fill("ftp://example.com/ ä")
    await page.getByRole("button", { name: "Vorschau" }).click()
    await page.getByText("1 Zeile wird ausgelassen").click()
    await page
      .getByText("url ist keine Adresse mit http oder https; key kann hier kein Schlüssel sein: ")
      .waitFor()

    await create(session, { url: "https://example.com/gross", alias: "Gross", domain: host })
    await page.goto("/app/domains")
    await page.getByRole("button", { name: `Bearbeiten: ${host}` }).click()
    await dialog.getByLabel("Großbuchstaben in Aliasen zählen nicht").check()
    await dialog.getByRole("button", { name: "Speichern" }).click()
    await dialog.getByText(`Aliase von ${host} haben Großbuchstaben: Gross.`).waitFor()
    await page.context().close()
  })
})
