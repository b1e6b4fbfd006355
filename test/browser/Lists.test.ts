import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { afterAll, describe, expect } from "vitest"
import { mmdb } from "../support/Mmdb.ts"
import {
  asAdmin,
  create,
  createMany,
  inBrowserOf,
  looks,
  nameOf,
  row,
  signedIn,
  visitCounted
} from "./InBrowser.ts"
import {
  expectAsked,
  expectFits,
  expectShown,
  expectSound,
  expectSoundInBothThemes,
  follow,
  newPage,
  type Session,
  stretchWaits
} from "./Session.ts"

/** Has the visitors of these tests in Germany. */
const folder = mkdtempSync(join(tmpdir(), "linkmint-lists-"))
const geoIpFile = join(folder, "countries.mmdb")
writeFileSync(geoIpFile, mmdb("Test-Country", { "127.0.0.0/8": { country: { iso_code: "DE" } } }))
afterAll(() => rmSync(folder, { recursive: true }))

const inBrowser = inBrowserOf("The list of links is", { GEOIP_FILE: geoIpFile })

const numbered = (tag: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    url: `https://example.com/${tag}/${n}`,
    alias: `${tag}-${n}`,
    tags: [tag]
  }))

const keysOn = (page: Page) =>
  page.evaluate<ReadonlyArray<string>>(
    `[...document.querySelectorAll("[data-key]")].map((row) => row.dataset.key)`
  )

/** Opens the edit of a link. */
const edit = async (page: Page, key: string) => {
  await row(page, key)
    .getByRole("button", { name: `Edit ${key}` })
    .click()
  const dialog = page.getByRole("dialog")
  await dialog.waitFor()
  return dialog
}

const tagsOf = async (session: Session, key: string) =>
  ((await (await asAdmin(session, "GET", `/api/v1/links/${key}`)).json()) as { tags: unknown }).tags

describe("the list of links", () => {
  inBrowser("has its page and filter in the address, and the way back leads to them", async (session) => {
    await createMany(session, numbered("placed", 60))
    for (const look of looks) {
      const page = await signedIn(session, "/app/links?tag=placed", look)
      await page.getByText("60 links", { exact: true }).waitFor()
      const first = await keysOn(page)
      expect(first).toHaveLength(25)
      await page.getByRole("button", { name: "Further" }).click()
      await page.waitForURL(/tag=placed&cursor=/)
      await row(page, first[0]!).waitFor({ state: "detached" })
      await expect.poll(() => keysOn(page)).toHaveLength(25)
      const second = await keysOn(page)
      await expectSoundInBothThemes(page, `a list's second page ${look.viewport.width}`)
      if (look === looks[1]) {
        // The ways have colours of their own on phones.
        await page.emulateMedia({ colorScheme: "light" })
        await expectSound(page, "the frame 390 light", { within: ".header" })
      }
      // What comes later can be of another height.
      await page.evaluate("document.fonts.ready.then(() => {})")

      // What is far down comes back where it was.
      const last = row(page, second.at(-1)!)
      await last.scrollIntoViewIfNeeded()
      const down = await page.evaluate<number>("scrollY")
      expect(down).toBeGreaterThan(200)
      await last.getByRole("link", { name: "statistics of" }).click()
      await page.getByRole("heading", { name: "No visits in the last 30 days" }).waitFor()
      await page.goBack()
      await last.waitFor()
      await expect.poll(() => page.evaluate<number>("scrollY")).toBe(down)
      await expect.poll(() => keysOn(page)).toEqual(second)
      await page.reload()
      await expect.poll(() => keysOn(page)).toEqual(second)

      await page.getByRole("button", { name: "Back" }).click()
      await expect.poll(() => keysOn(page)).toEqual(first)
      await page.goBack()
      await row(page, second[0]!).waitFor()
      await page.goBack()
      await row(page, first[0]!).waitFor()
      await page.close()
    }
  })

  inBrowser("goes to the first page from an address that somebody passed on", async (session) => {
    await createMany(session, numbered("passed", 60))
    const page = await signedIn(session, "/app/links?tag=passed")
    const further = page.getByRole("button", { name: "Further" })
    await further.click()
    await page.waitForURL(/cursor=/)
    const second = page.url()
    const other = await signedIn(session, second.slice(session.base.length))
    await other.getByRole("button", { name: "First page" }).click()
    await other.waitForURL((url) => url.search === "?tag=passed")
    await expect.poll(() => keysOn(other)).toHaveLength(25)
    for (const one of [page, other]) await one.close()
  })

  inBrowser("keeps what is typed just when a search comes into the address", async (session) => {
    await createMany(session, numbered("typed", 3))
    const page = await signedIn(session, "/app/links")
    const search = page.getByLabel("Search in keys, URLs and titles")
    await page.evaluate(`{
      const push = history.pushState
      history.pushState = (...entry) => {
        history.pushState = push
        push.apply(history, entry)
        const input = document.querySelector("input[type=search]")
        input.value += "1"
        input.dispatchEvent(new Event("input", { bubbles: true }))
      }
    }`)
    await search.fill("typed-")
    await page.waitForURL(/q=typed-1$/)
    expect(await search.inputValue()).toBe("typed-1")
    await page.close()
  })

  inBrowser("goes back from a tag, an order and a search", async (session) => {
    await createMany(session, numbered("sought", 3))
    const page = await signedIn(session, "/app/links")
    const search = page.getByLabel("Search in keys, URLs and titles")
    await search.fill("sought-")
    await page.waitForURL(/q=sought-$/)
    await search.fill("sought-1")
    await page.waitForURL(/q=sought-1$/)
    await row(page, "sought-1").getByRole("button", { name: "Only the tag sought" }).click()
    await page.waitForURL(/tag=sought/)
    await page.getByLabel("Order").selectOption("Oldest first")
    await page.waitForURL(/order=oldest/)
    await page.goBack()
    await page.waitForURL((url) => url.searchParams.has("tag") && !url.searchParams.has("order"))
    await page.goBack()
    await page.waitForURL((url) => url.search === "?q=sought-1")
    await expect.poll(() => search.inputValue()).toBe("sought-1")
    await page.goBack()
    await page.waitForURL((url) => url.search === "")
    await expect.poll(() => search.inputValue()).toBe("")
    for (const [named, order] of [
      ["Most visits first", "visits-desc"],
      ["Last visited first", "lastVisit-desc"]
    ] as const) {
      const choose = () => page.getByLabel("Order").selectOption(named)
      await expectAsked(page, new RegExp(`orderBy=${order}`), choose)
      await row(page, "sought-1").waitFor()
    }
    await page.reload()
    await expect.poll(() => page.getByLabel("Order").inputValue()).toBe("lastVisit-desc")
    await page.close()
  })

  inBrowser(
    "says how many there are, less those that are being deleted, what is missing, and where to make one",
    async (session) => {
      await createMany(session, numbered("totalled", 26))
      const page = await signedIn(session, "/app/links?tag=totalled")
      await page.getByText("26 links", { exact: true }).waitFor()
      // A delete can be undone for 8 s.
      await stretchWaits(page, 60)
      await page.getByRole("button", { name: "Delete totalled-", exact: false }).first().click()
      await page.getByText("25 links", { exact: true }).waitFor()
      await page.getByRole("button", { name: "Undo" }).click()
      await page.getByText("26 links", { exact: true }).waitFor()
      await page.route("**/api/v1/links?*", async (route) => {
        const answer = await route.fetch()
        const body = (await answer.json()) as object
        const total = { count: 10_000, isExact: false }
        await route.fulfill({ response: answer, json: { ...body, total, partial: true } })
      })
      await page.reload()
      await page.getByText("More than 10,000 links").waitFor()
      await page.getByText(/^Some links, or their visits, cannot be read at the moment, and/).waitFor()
      await expectShown(page, "so no file was saved", () =>
        page.getByRole("button", { name: "JSON" }).click()
      )
      await page.getByRole("link", { name: "New link" }).click()
      await page.getByLabel("Long URL").waitFor()
      // The page may ask for the list at any moment.
      await page.unrouteAll({ behavior: "wait" })
      await page.close()
    }
  )

  inBrowser("counts visits while somebody looks", async (session) => {
    await create(session, { url: "https://example.com/", alias: "watched-one" })
    const page = await signedIn(session, "/")
    // The list asks for visits every 5 s.
    await stretchWaits(page, 0.1)
    await follow(page, "/app/links?q=watched-one")
    const visits = row(page, "watched-one").locator(".visits strong")
    await visits.getByText("0", { exact: true }).waitFor()
    await fetch(`${session.base}/watched-one`, { redirect: "manual" })
    await visits.getByText("1", { exact: true }).waitFor()
    await page.close()
  })

  inBrowser("shows the whole key, whatever its length and that of the title", async (session) => {
    const key = `whole-${"k".repeat(58)}`
    const title = "A title that goes on and on ".repeat(9).trim()
    await create(session, { url: "https://example.com/", alias: key, title })
    await create(session, { url: "https://example.com/", alias: "whole-2", title: "w".repeat(256) })
    for (const look of looks) {
      const page = await signedIn(session, "/app/links?q=whole-", look)
      // The font, which comes later, is of another width.
      await page.evaluate("document.fonts.ready.then(() => {})")
      for (const one of [key, "whole-2"]) {
        const shown = row(page, one).locator("a.key")
        await shown.waitFor()
        // Of an inline box nothing is cut off.
        const isCut = await page.evaluate<boolean>(`(() => {
          const key = document.querySelector('[data-key="${one}"] a.key')
          return key.clientWidth > 0 && key.scrollWidth > key.clientWidth
        })()`)
        expect(isCut, one).toBe(false)
        const box = (await shown.boundingBox())!
        const named = (await row(page, one).locator(".title").boundingBox())!
        expect(box.x + box.width).toBeLessThanOrEqual(look.viewport.width)
        const overlaps = named.y < box.y + box.height && named.y + named.height > box.y
        if (overlaps) expect(named.x).toBeGreaterThanOrEqual(box.x + box.width)
        expect(box.width).toBeGreaterThan(40)
      }
      await expectSoundInBothThemes(page, `long titles ${look.viewport.width}`, ".links")
      await page.close()
    }
  })

  inBrowser("tags and deletes those that were chosen, in their order", async (session) => {
    await createMany(session, numbered("leaving", 4))
    const leaving = await signedIn(session, "/app/links?q=leaving-")
    // They go after 8 s.
    await stretchWaits(leaving, 0.1)
    const deleted: Array<string> = []
    leaving.on("request", (request) => {
      if (request.method() === "DELETE") deleted.push(request.url().split("/").at(-1)!)
    })
    await expect.poll(() => keysOn(leaving)).toHaveLength(4)
    const gone = await keysOn(leaving)
    await leaving.getByLabel("Choose all on this page").check()
    await leaving
      .getByRole("region", { name: "Chosen links" })
      .getByRole("button", { name: "Delete" })
      .click()
    await expect.poll(() => deleted).toEqual(gone)
    await leaving.close()
    for (const look of looks) {
      const tag = `chosen-${looks.indexOf(look)}`
      await createMany(session, numbered(tag, 4))
      const page = await signedIn(session, `/app/links?q=${tag}-`, look)
      await expect.poll(() => keysOn(page)).toHaveLength(4)
      const keys = await keysOn(page)
      const sent: Array<string> = []
      page.on("request", (request) => {
        if (["PATCH", "DELETE"].includes(request.method())) {
          sent.push(`${request.method()} ${request.url().split("/").at(-1)}`)
        }
      })
      await page.getByLabel("Choose all on this page").check()
      await page.getByText("4 links chosen").waitFor()
      await page.getByLabel(`Choose ${keys[2]}`).uncheck()
      await page.getByText("3 links chosen").waitFor()
      await expectSoundInBothThemes(page, `chosen links ${look.viewport.width}`, "main")
      await page.getByRole("button", { name: "Tags", exact: true }).click()
      const dialog = page.getByRole("dialog")
      await dialog.getByLabel("Add").fill("new one, other")
      await dialog.getByRole("button", { name: tag, exact: true }).click()
      await expectSoundInBothThemes(page, `tags of chosen links ${look.viewport.width}`, "dialog")
      await dialog.getByRole("button", { name: "Save" }).click()
      await dialog.waitFor({ state: "detached" })
      const chosen = keys.filter((_, index) => index !== 2)
      expect(sent).toEqual(chosen.map((key) => `PATCH ${key}`))
      expect(await tagsOf(session, keys[0]!)).toEqual(["new one", "other"])
      expect(await tagsOf(session, keys[2]!)).toEqual([tag])

      const selection = page.getByRole("region", { name: "Chosen links" })
      const archiveAll = selection.getByRole("button", { name: "Archive", exact: true })
      await expectShown(page, "3 links are archived.", () => archiveAll.click())
      await expect.poll(() => keysOn(page)).toEqual([keys[2]])
      const archive = page.getByRole("button", { name: `Archive ${keys[2]}`, exact: true })
      await expectShown(page, `/${keys[2]} is archived.`, () => archive.click())
      await expect.poll(() => keysOn(page)).toEqual([])
      await page.getByLabel("Archive", { exact: true }).selectOption("With archived ones")
      await page.waitForURL(/archived=any/)
      await expect.poll(() => keysOn(page)).toEqual(keys)
      await edit(page, keys[2]!)
      await page.getByLabel("Archive it").uncheck()
      await page.getByRole("button", { name: "Save" }).click()
      await archive.waitFor()
      await page.getByLabel("Choose all on this page").check()
      await page.getByLabel(`Choose ${keys[2]}`).uncheck()
      const unarchive = selection.getByRole("button", { name: "Unarchive" })
      await expectShown(page, "3 links are no longer archived.", () => unarchive.click())
      await page.goBack()
      await expect.poll(() => keysOn(page)).toEqual(keys)
      await page.getByLabel("Choose all on this page").check()
      await page.getByLabel(`Choose ${keys[2]}`).uncheck()
      await stretchWaits(page, 60)
      await selection.getByRole("button", { name: "Delete" }).click()
      await page.getByText("3 links are deleted for good in 8 seconds.").waitFor()
      await expect.poll(() => keysOn(page)).toEqual([keys[2]])
      await page.getByRole("button", { name: "Undo" }).click()
      await expect.poll(() => keysOn(page)).toEqual(keys)
      await page.close()
    }
  })

  inBrowser(
    "names the chosen links whose tags cannot be changed, and changes the others",
    async (session) => {
      await createMany(session, numbered("refused", 2))
      const full = Array.from({ length: 20 }, (_, n) => `t${n}`)
      await create(session, { url: "https://example.com/", alias: "refused-full", tags: full })
      const page = await signedIn(session, "/app/links?q=refused-")
      await row(page, "refused-full").waitFor()
      await page.getByLabel("Choose all on this page").check()
      await page.getByRole("button", { name: "Tags", exact: true }).click()
      const dialog = page.getByRole("dialog")
      await dialog.getByLabel("Add").fill("another")
      await dialog.getByRole("button", { name: "Save" }).click()
      await dialog.getByText("/refused-full: May have 20 tags at most.").waitFor()
      expect(await dialog.getByRole("alert").locator("li").count()).toBe(1)
      expect(await tagsOf(session, "refused-1")).toEqual(["refused", "another"])
      await page.close()
    }
  )
})

describe("all links of a filter", () => {
  inBrowser(
    "are counted, asked about, changed and deleted, however many pages they have",
    async (session) => {
      for (const look of looks) {
        const tag = `many-${nameOf(look).replace(" ", "-")}`
        await createMany(session, numbered(tag, 27))
        const other = `other-than-${tag}`
        await create(session, { url: "https://example.com/", alias: other })
        const page = await signedIn(session, `/app/links?tag=${tag}`, look)
        const open = () => page.getByRole("button", { name: "Edit all that match" }).click()
        const dialog = page.getByRole("dialog")
        await open()
        expect(await dialog.getByLabel("Take tags away").inputValue()).toBe(tag)
        await dialog.getByLabel("Add tags").fill(`${tag}-renamed`)
        await expectSoundInBothThemes(page, `edit of all that match, ${look.viewport.width}`, "dialog")
        await dialog.getByRole("button", { name: "Count them" }).click()
        await dialog.getByText("This changes 27 links.").waitFor()
        await expectSoundInBothThemes(
          page,
          `question of an edit of all that match, ${look.viewport.width}`,
          "dialog"
        )
        expect(await tagsOf(session, `${tag}-0`)).toEqual([tag])
        await dialog.getByRole("button", { name: "Change 27 links" }).click()
        await dialog.waitFor({ state: "detached" })
        expect(await tagsOf(session, `${tag}-0`)).toEqual([`${tag}-renamed`])
        await page.getByText("Nothing found").waitFor()

        await follow(page, `/app/links?tag=${tag}-renamed`)
        await open()
        await dialog.getByLabel("What").selectOption("Archive them")
        await dialog.getByRole("button", { name: "Count them" }).click()
        await dialog.getByText("This archives 27 links.").waitFor()
        await dialog.getByRole("button", { name: "Archive 27 links" }).click()
        await dialog.waitFor({ state: "detached" })
        await page.getByText("Nothing found").waitFor()
        await page.getByLabel("Archive", { exact: true }).selectOption("Archived")
        await page.getByText("27 links", { exact: true }).waitFor()
        await page.getByRole("button", { name: `Unarchive ${tag}-0` }).waitFor()
        // Of rows that are alike one is looked at.
        await expectSoundInBothThemes(page, `archived links, ${look.viewport.width}`, `[data-key="${tag}-0"]`)
        await open()
        await dialog.getByLabel("What").selectOption("Unarchive them")
        await dialog.getByRole("button", { name: "Count them" }).click()
        await dialog.getByRole("button", { name: "Unarchive 27 links" }).click()
        await dialog.waitFor({ state: "detached" })
        await page.getByText("Nothing found").waitFor()
        await page.getByLabel("Archive", { exact: true }).selectOption("Not archived")
        await page.getByText("27 links", { exact: true }).waitFor()
        const without = page.getByRole("button", { name: "Without it" })
        await expectAsked(page, /notTag=/, () => without.click())
        await page.getByRole("button", { name: `not ${tag}-renamed: show all tags` }).waitFor()
        await row(page, other).waitFor()
        expect(await page.getByRole("button", { name: `Only the tag ${tag}-renamed` }).count()).toBe(0)
        await expectSoundInBothThemes(page, `a list without a tag, ${look.viewport.width}`, ".filter")
        await page.goBack()
        await page.getByText("27 links", { exact: true }).waitFor()
        await open()
        await dialog.getByLabel("What").selectOption("Delete them for good")
        await dialog.getByRole("button", { name: "Count them" }).click()
        await dialog.getByRole("button", { name: "Delete 27 links" }).click()
        await dialog.waitFor({ state: "detached" })
        await page.getByText("Nothing found").waitFor()
        await page.close()
      }
    }
  )
})

describe("the edit of a link", () => {
  inBrowser("has Save in sight, and shows an error once, where it is", async (session) => {
    await create(session, { url: "https://example.com/", alias: "edited-one", password: "open sesame" })
    for (const look of looks) {
      const short = { ...look, viewport: { ...look.viewport, height: 480 } }
      const page = await signedIn(session, "/app/links?q=edited-one", short)
      const dialog = await edit(page, "edited-one")
      const save = dialog.getByRole("button", { name: "Save" })
      const isInSight = async () => {
        const { height, y } = (await save.boundingBox())!
        return y > 0 && y + height <= short.viewport.height
      }
      await expect.poll(isInSight).toBe(true)
      await dialog.getByText("Let search engines follow it").scrollIntoViewIfNeeded()
      await expect.poll(isInSight).toBe(true)
      await expectSoundInBothThemes(page, `an edit ${look.viewport.width}`, "dialog")

      await dialog.getByLabel("Long URL").fill("nonsense://")
      await dialog.getByLabel("Visits at most").fill("0")
      await save.click()
      await expect.poll(() => dialog.locator(".fault").count()).toBeGreaterThan(0)
      const faults = await dialog.locator(".fault").allTextContents()
      expect(new Set(faults).size).toBe(faults.length)
      for (const fault of faults) expect(fault).toMatch(/^[A-Z][^{}]*\.$/)
      await expect
        .poll(() => page.evaluate("document.activeElement.getAttribute('aria-invalid')"))
        .toBe("true")
      await expectSoundInBothThemes(page, `an edit that was refused ${look.viewport.width}`, "dialog")
      await page.close()
    }
  })

  inBrowser("goes on when a search that was typed before it comes into the address", async (session) => {
    await create(session, { url: "https://example.com/searched", alias: "searched-one" })
    const page = await signedIn(session, "/app/links", looks[0])
    await page.locator('[data-key="searched-one"]').waitFor()
    // All in one turn of the page: the search waits for 0.3 s without a key.
    await page.evaluate(`{
      const type = (input, text) => {
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, text)
        input.dispatchEvent(new Event("input", { bubbles: true }))
      }
      type(document.querySelector("input[type=search]"), "searched")
      document.querySelector('[data-key="searched-one"] [aria-label="Edit searched-one"]').click()
      const opened = new MutationObserver(() => {
        const title = document.querySelector("dialog input[name=title]")
        if (title === null) return
        opened.disconnect()
        type(title, "Another name")
      })
      opened.observe(document.body, { childList: true, subtree: true })
    }`)
    await page.waitForURL(/q=searched/)
    // Behind the dialog there is the list of the search.
    await expect.poll(() => keysOn(page)).toEqual(["searched-one"])
    const dialog = page.getByRole("dialog")
    expect(await dialog.getByLabel("Title").inputValue()).toBe("Another name")
    await dialog.getByRole("button", { name: "Save" }).click()
    await dialog.waitFor({ state: "detached" })
    await page.locator('[data-key="searched-one"]').getByText("Another name").waitFor()
    await page.close()
  })

  inBrowser("asks before it loses changes, however it is left", async (session) => {
    await create(session, { url: "https://example.com/before", alias: "unsaved-one" })
    for (const look of looks) {
      const page = await signedIn(session, "/app/stats", look)
      await page.getByRole("link", { name: "Links", exact: true }).click()
      const dialog = await edit(page, "unsaved-one")
      // Nothing is changed: nothing is asked.
      await page.keyboard.press("Escape")
      await dialog.waitFor({ state: "detached" })

      await edit(page, "unsaved-one")
      await dialog.getByLabel("Title").fill("Not saved")
      const asked = dialog.getByText("Your changes are not saved.")
      const keep = dialog.getByRole("button", { name: "Keep editing" })
      const questions = new Set<string>()
      for (const leave of [
        () => page.keyboard.press("Escape"),
        () => dialog.getByRole("button", { name: "Close" }).click(),
        () => dialog.getByRole("button", { name: "Cancel" }).click(),
        () => page.evaluate("history.back()")
      ]) {
        await leave()
        await asked.waitFor()
        const question = await dialog.innerHTML()
        if (!questions.has(question)) {
          await expectSoundInBothThemes(page, `unsaved changes ${look.viewport.width}`, "dialog")
          questions.add(question)
        }
        await keep.click()
        await asked.waitFor({ state: "detached" })
        expect(await dialog.getByLabel("Title").inputValue()).toBe("Not saved")
        await page.waitForURL(/\/app\/links(?:\?|$)/)
      }
      await page.evaluate("history.back()")
      await dialog.getByRole("button", { name: "Discard them" }).click()
      await page.waitForURL(/\/app\/stats$/)
      await page.goForward()
      await row(page, "unsaved-one").waitFor()
      expect(await page.getByText("Not saved").count()).toBe(0)
      await page.close()
    }
  })
})

describe("the rules and variants of a link", () => {
  const shown = async (session: Session, key: string) =>
    (await (await asAdmin(session, "GET", `/api/v1/links/${key}`)).json()) as {
      readonly rules?: ReadonlyArray<object>
      readonly variants?: ReadonlyArray<object>
    }
  const group = (page: Page, name: string) => page.getByRole("group", { name, exact: true })
  const leadTo = (page: Page, name: string, url: string) => group(page, name).getByLabel("Leads to").fill(url)

  for (const [index, look] of looks.entries()) {
    inBrowser(`are chosen and changed, ${nameOf(look)}`, async (session) => {
      const key = `ruled-${index}`
      const page = await signedIn(session, "/", look)
      await page.getByLabel("Long URL").fill("example.com/otherwise")
      await page.getByText("Alias, end, password, limits").click()
      await page.getByLabel("Alias").fill(key)
      await page.getByText("Rules and variants").click()
      const addRule = page.getByRole("button", { name: "Add a rule" })
      await addRule.click()
      await leadTo(page, "Rule 1", "javascript:alert(1)")
      await group(page, "Rule 1").getByLabel("Called").fill("phones")
      await page.getByLabel("Add a condition to rule 1").selectOption("Devices")
      await group(page, "Devices").getByLabel("Mobile").check()
      await page.getByLabel("Add a condition to rule 1").selectOption("Hours")
      await page.getByLabel("Time zone").fill("Europe/Berlin")
      await addRule.click()
      await leadTo(page, "Rule 2", "example.com/german")
      await page.getByLabel("Add a condition to rule 2").selectOption("Browser languages")
      await group(page, "Rule 2").getByLabel("Browser languages", { exact: true }).fill("de, gsw")
      await page.getByLabel("Add a condition to rule 2").selectOption("Query parameters")
      await group(page, "Rule 2").getByLabel("Query parameters", { exact: true }).fill("ref, by=mail")
      await page.getByRole("button", { name: "Divide visitors" }).click()
      await leadTo(page, "Variant 1", "example.com/a")
      await leadTo(page, "Variant 2", "example.com/b")
      await group(page, "Variant 2").getByLabel("Weight").fill("3")
      await page.getByText("75% of the visitors.").waitFor()
      await page.getByRole("button", { name: "Shorten", exact: true }).click()
      await group(page, "Rule 1").getByText("Must start with http").waitFor()
      await expectSound(page, `rules, ${nameOf(look)}`)

      await leadTo(page, "Rule 1", "example.com/phones")
      await page.getByRole("button", { name: "Remove hours from rule 1" }).click()
      await page.getByRole("button", { name: "Move rule 2 up" }).click()
      await page.getByRole("button", { name: "Shorten", exact: true }).click()
      await page.getByRole("heading", { name: "Your short link" }).waitFor()
      const rules = [
        {
          url: "https://example.com/german",
          when: { languages: ["de", "gsw"], query: [{ name: "ref" }, { name: "by", value: "mail" }] }
        },
        { url: "https://example.com/phones", name: "phones", when: { devices: ["mobile"] } }
      ]
      const variants = [
        { url: "https://example.com/a", weight: 1 },
        { url: "https://example.com/b", weight: 3 }
      ]
      expect(await shown(session, key)).toMatchObject({ rules, variants })

      await follow(page, `/app/links?q=${key}`)
      const dialog = await edit(page, key)
      await dialog.getByText("Rules and variants").click()
      await group(page, "Rule 1").getByLabel("Browser languages", { exact: true }).waitFor()
      // Nothing has been changed yet.
      await dialog.getByRole("button", { name: "Cancel" }).click()
      await dialog.waitFor({ state: "detached" })
      await edit(page, key)
      await dialog.getByText("Rules and variants").click()
      await page.getByRole("button", { name: "Remove rule 1" }).click()
      for (const name of ["Remove variant 2", "Remove variant 1"]) {
        await page.getByRole("button", { name }).click()
      }
      await dialog.getByRole("button", { name: "Save" }).click()
      await dialog.waitFor({ state: "detached" })
      const changed = await shown(session, key)
      expect([changed.rules, changed.variants]).toEqual([[rules[1]], undefined])

      const { headers } = await fetch(`${session.base}/${key}`, {
        redirect: "manual",
        headers: {
          "user-agent": "Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/126.0.0.0 Mobile Safari/537.36"
        }
      })
      expect(headers.get("location")).toBe("https://example.com/phones")
      await page.close()
    })
  }

  inBrowser("are shown where it is edited, and with its visits", async (session) => {
    const url = "https://example.com/"
    const rules = [{ url, name: "phones", when: { devices: ["mobile"], countries: ["DE"] } }]
    const variants = [1, 3].map((weight) => ({ url, weight }))
    await create(session, { url, alias: "ruled", rules, variants })
    await fetch(`${session.base}/ruled`, { redirect: "manual" })
    await visitCounted(session, "ruled")
    for (const look of looks) {
      const page = await signedIn(session, "/app/links?q=ruled", look)
      const dialog = await edit(page, "ruled")
      await dialog.getByText("Rules and variants").click()
      await group(page, "Rule 1").getByLabel("Countries", { exact: true }).waitFor()
      await expectSoundInBothThemes(page, `rules of an edited link, ${look.viewport.width}`, "dialog")
      await page.keyboard.press("Escape")
      await dialog.waitFor({ state: "detached" })
      await follow(page, "/app/links/ruled/stats")
      await page
        .getByRole("list", { name: "Rules and variants" })
        .getByText("Devices: Mobile; Countries: DE")
        .waitFor()
      await page.getByRole("heading", { name: "Rules and variants" }).waitFor()
      await page
        .getByText(/^Variant [12]$/)
        .nth(2)
        .waitFor()
      await expectSoundInBothThemes(page, `visits by rule, ${look.viewport.width}`)
      await page.close()
    }
  })
})

describe("statistics", () => {
  inBrowser("have their time in the address, and the way back leads through it", async (session) => {
    await create(session, { url: "https://example.com/", alias: "ranged-one" })
    await fetch(`${session.base}/ranged-one?utm_campaign=spring`, { redirect: "manual" })
    await visitCounted(session, "ranged-one")
    for (const look of looks) {
      const page = await signedIn(session, "/app/links/ranged-one/stats?range=week", look)
      const chosen = page.getByRole("group", { name: "Time" }).locator('[aria-pressed="true"]')
      await page.locator(".uplot").waitFor()
      expect(await chosen.textContent()).toBe("7 days")
      await page.getByRole("heading", { name: "Campaigns" }).waitFor()
      await page.getByText("spring").waitFor()
      for (const button of await page.getByRole("group", { name: "Time" }).getByRole("button").all()) {
        const { width, x } = (await button.boundingBox())!
        expect(x).toBeGreaterThanOrEqual(0)
        expect(x + width).toBeLessThanOrEqual(look.viewport.width)
      }
      await page.getByRole("button", { name: "A year" }).click()
      await page.waitForURL(/range=year$/)
      await page.getByRole("button", { name: "30 days" }).click()
      await page.waitForURL(/\/stats$/)
      await page.goBack()
      await page.waitForURL(/range=year$/)
      await expect.poll(() => chosen.textContent()).toBe("A year")
      await expectAsked(page, /\/stats\?.*interval=hour/, () => page.goBack())
      await expect.poll(() => chosen.textContent()).toBe("7 days")
      await page.locator(".uplot").waitFor()
      await expectSoundInBothThemes(page, `statistics of a week ${look.viewport.width}`)

      // Own dates and the choice of bots are in the address as well.
      await page.getByLabel("From").fill("2026-01-02")
      await page.getByLabel("From").press("Tab")
      await page.waitForURL(/from=2026-01-02&to=/)
      expect(new URL(page.url()).searchParams.get("range")).toBeNull()
      await chosen.waitFor({ state: "detached" })
      await expectAsked(page, /\/stats\?.*bots=exclude/, () => page.getByLabel("Bots").uncheck())
      await page.waitForURL(/bots=exclude/)
      await page.getByText("By people").or(page.getByText("No visits by people from")).waitFor()
      // What is below was looked at with all visits.
      await expectSoundInBothThemes(page, `statistics of own dates ${look.viewport.width}`, ".filters")
      const saved = page.waitForEvent("download")
      await page.getByRole("link", { name: "CSV" }).click()
      const download = await saved
      expect(download.suggestedFilename()).toBe("visits-ranged-one.csv")
      const table = await readFile(await download.path(), "utf8")
      expect(table).toMatch(/^dimension,value,visits\r\ntotal,,\d+\r\n/)
      expect(table).toContain("day,2026-01-02T00:00:00.000Z,0")
      await page.goBack()
      await page.waitForURL((url) => !url.searchParams.has("bots"))
      await page.goBack()
      await expect.poll(() => chosen.textContent()).toBe("7 days")
      await page.close()
    }
  })

  inBrowser("are for anybody whose owner says so, and nothing else of the link is", async (session) => {
    const url = "https://example.com/internal"
    await create(session, { url, alias: "open-one", title: "Ours", publicStats: true })
    await create(session, { url, alias: "closed-one" })
    await fetch(`${session.base}/open-one`, { redirect: "manual" })
    await visitCounted(session, "open-one")
    for (const look of looks) {
      const page = await newPage(session, "/", look)
      const asked: Array<string> = []
      page.on("request", (request) => asked.push(request.url()))
      await page.goto("/app/links/open-one/stats")
      await page.getByRole("heading", { name: "open-one" }).waitFor()
      await page.locator(".uplot").waitFor()
      // A map of the countries, which the list beside it names, without a word to another host.
      const map = page.getByRole("img", { name: /^Map of the world/ })
      await map.waitFor()
      await page.getByRole("listitem").filter({ hasText: "Germany" }).waitFor()
      const germany = map.locator('[data-country="DE"]')
      expect(await germany.textContent()).toBe("Germany: 1 visit")
      expect(await map.locator("[data-shade]").count()).toBe(1)
      const fillOf = (country: string) =>
        page.evaluate<string>(`getComputedStyle(document.querySelector('[data-country="${country}"]')).fill`)
      expect(await germany.getAttribute("data-shade")).toBe("4")
      expect(await fillOf("DE")).not.toBe(await fillOf("FR"))
      expect(asked.filter((url) => !url.startsWith(session.base))).toEqual([])
      await page.getByRole("heading", { name: "Referrers" }).waitFor()
      expect(await page.getByText(/Ours|internal|Edit/).count()).toBe(0)
      const day = page.getByRole("button", { name: "24 hours" })
      await expectAsked(page, /\/stats\?.*interval=hour/, () => day.click())
      await page.waitForURL(/range=day/)
      await page.locator(".uplot").waitFor()
      await expectSoundInBothThemes(page, `public statistics ${look.viewport.width}`)
      await page.goto("/app/links/closed-one/stats")
      await page.getByRole("heading", { name: "Sign in" }).waitFor()
      expect(await page.getByRole("group", { name: "Time" }).count()).toBe(0)
      await page.context().close()
    }
    // Where anybody may be, nobody is asked to sign in.
    const page = await signedIn(session, "/app/links/open-one/stats")
    await page.getByText("Statistics: anybody with this page's address sees them").waitFor()
    await page.close()
  })

  inBrowser("of nothing have no axis", async (session) => {
    await create(session, { url: "https://example.com/", alias: "empty-one" })
    for (const look of looks) {
      const page = await signedIn(session, "/", look)
      const asked: Array<string> = []
      page.on("request", (request) => asked.push(request.url()))
      await page.goto("/app/links/empty-one/stats")
      await page.getByRole("heading", { name: "No visits in the last 30 days" }).waitFor()
      expect(await page.locator(".uplot").count()).toBe(0)
      expect(await page.getByText("Nothing yet.").count()).toBe(0)
      expect(asked.filter((url) => url.includes("/outlines-"))).toEqual([])
      await page.getByRole("button", { name: "24 hours" }).click()
      await page.getByRole("heading", { name: "No visits in the last 24 hours" }).waitFor()
      // Axe has looked at it among the places of the page.
      await expectFits(page, `empty statistics ${look.viewport.width}`)
      await page.close()
    }
  })
})
