import { readFileSync } from "node:fs"
import jsQR from "jsqr"
import { PNG } from "pngjs"
import type { Page } from "playwright-core"
import { describe, expect } from "vitest"
import {
  create,
  createMany,
  inBrowserOf,
  looks,
  nameOf,
  qrDrawn,
  row,
  signedIn,
  visitCounted
} from "./InBrowser.ts"
import {
  choosePassword,
  expectAsked,
  expectShown,
  expectSound,
  follow,
  iconOf,
  newPage,
  type Session,
  signIn,
  stretchWaits
} from "./Session.ts"

// The one file whose administrator chooses their password on the page, as everybody does after the first start.
const inBrowser = inBrowserOf("The web page is", {}, choosePassword)

const statusOf = async ({ base }: Session, key: string) =>
  (await fetch(`${base}/${key}`, { redirect: "manual", method: "HEAD" })).status

const shorten = async (page: Page, url: string) => {
  await page.getByLabel("Long URL").fill(url)
  await page.getByRole("button", { name: "Shorten", exact: true }).click()
  await page.getByRole("heading", { name: "Your short link" }).waitFor()
}

/** What a list is saved as. */
const save = async (page: Page, name: "CSV" | "JSON") => {
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name, exact: true }).click()
  ])
  return readFileSync(await saved.path(), "utf8")
}

describe("a newcomer", () => {
  inBrowser("shortens a URL, copies the link, visits it and sees the visit counted", async (session) => {
    const page = await newPage(session, "/", { permissions: ["clipboard-read", "clipboard-write"] })
    // It asks for visits every 2 s.
    await stretchWaits(page, 0.1)
    await shorten(page, "example.com/a/long/address")
    const shortUrl = await page.getByTestId("short-url").getAttribute("href")
    expect(shortUrl).toMatch(new RegExp(`^${session.base}/[A-Za-z0-9]{7}$`))
    const copy = page.getByRole("button", { name: "Copy the short link" })
    await expectShown(page, "Copied the short link", () => copy.click())
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(shortUrl)

    await page.getByTestId("visits").getByText("0 visits").waitFor()
    const visit = await fetch(shortUrl!, { redirect: "manual" })
    expect(visit.headers.get("location")).toBe("https://example.com/a/long/address")
    await page.getByTestId("visits").getByText("1 visit").waitFor()

    await page.reload()
    await page.getByText("Made in this browser").waitFor()
    await page.getByText("1 visit").waitFor()
    await page.getByRole("button", { name: "Forget these" }).click()
    await page.getByText("Made in this browser").waitFor({ state: "detached" })
    await page.context().close()
  })

  inBrowser("gets a QR code of the link that can be read", async (session) => {
    const page = await newPage(session, "/")
    await shorten(page, "https://example.com/qr")
    const shortUrl = await page.getByTestId("short-url").getAttribute("href")
    await qrDrawn(page)
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save PNG" }).click()
    ])
    const { data, height, width } = PNG.sync.read(readFileSync(await saved.path()))
    expect(jsQR.default(new Uint8ClampedArray(data), width, height)?.data).toBe(shortUrl)
    await page.context().close()
  })

  inBrowser("chooses alias, end, password and limit, and is told what cannot be had", async (session) => {
    await create(session, { url: "https://example.com/", alias: "taken-one" })
    const page = await newPage(session, "/")
    await page.getByText("Alias, end, password, limits").click()
    const alias = page.getByLabel("Alias")
    for (const [text, answer] of [
      ["x", "3 to 64 of"],
      ["Login", "This word is reserved."],
      ["events/x", "3 to 64 of"],
      ["Login/2026", "This word is reserved."],
      ["taken-one/2026", "Whether it is free will show."],
      ["taken-one", "This is taken."],
      ["free-one", "Free."]
    ] as const) {
      await alias.fill(text)
      await page.getByText(answer).waitFor()
    }
    await page.getByLabel("Ends").selectOption("After a week")
    await page.getByLabel("Password").fill("open sesame")
    await page.getByLabel("Visits at most").fill("3")
    await shorten(page, "https://example.com/guarded")
    await page.getByText("At most 3 visits").waitFor()
    await page.getByText("Guarded by a password").waitFor()
    await page.getByText(/^Ends /).waitFor()
    expect(await statusOf(session, "free-one")).toBe(401)

    await page.getByRole("button", { name: "Shorten another" }).click()
    await page.getByLabel("Long URL").fill("javascript:alert(1)")
    await page.getByRole("button", { name: "Shorten", exact: true }).click()
    await page.locator("p.fault").waitFor()
    expect(await page.getByLabel("Long URL").getAttribute("aria-invalid")).toBe("true")
    await page.context().close()
  })

  inBrowser("is told that a URL is too long, and what was wrong until it is mended", async (session) => {
    const page = await newPage(session, "/")
    const url = page.getByLabel("Long URL")
    const press = page.getByRole("button", { name: "Shorten", exact: true })
    const long = `https://example.com/?${"q".repeat(2_100)}`
    await url.fill(long)
    expect(await url.inputValue()).toBe(long)
    await page
      .getByText("This address has 2,121 characters. A link leads to one of 2,048 characters at most.")
      .waitFor()
    await press.click()
    await page.getByText("must have at most 2048 characters").waitFor()

    // Taken between the look and the create.
    await page.getByText("Alias, end, password, limits").click()
    await page.getByLabel("Alias").fill("wanted-one")
    await page.getByText("Free.").waitFor()
    await create(session, { url: "https://example.com/", alias: "wanted-one" })
    await url.fill("https://example.com/short")
    await press.click()
    await page.getByText(/"wanted-one" is taken/).waitFor()
    await page.getByLabel("Alias").fill("another-one")
    await page.getByText("Free.").waitFor()
    expect(await page.getByText(/is taken/).count()).toBe(0)
    await shorten(page, "https://example.com/short")
    await page.context().close()
  })

  inBrowser("gets along with the keyboard alone", async (session) => {
    const page = await newPage(session, "/")
    await page.getByLabel("Long URL").waitFor()
    const focused = (what: string) => page.evaluate(`document.activeElement.${what}`)
    await page.keyboard.press("Tab")
    await expect.poll(() => focused("textContent")).toBe("Skip to content")
    await page.keyboard.press("Enter")
    await expect.poll(() => focused("id")).toBe("main")
    await page.keyboard.press("Tab")
    await expect.poll(() => focused("name")).toBe("url")
    await page.keyboard.type("https://example.com/keys")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Your short link" }).waitFor()
    await expect.poll(() => focused("textContent")).toBe("Your short link")
    await page.context().close()
  })

  inBrowser("is told when there is no network, and tries again", async (session) => {
    const page = await newPage(session, "/")
    await page.getByLabel("Long URL").fill("https://example.com/offline")
    await page.context().setOffline(true)
    await page.getByText("You are offline.").waitFor()
    await page.getByRole("button", { name: "Shorten", exact: true }).click()
    await page.getByText("The service cannot be reached.").waitFor()
    await page.context().setOffline(false)
    await shorten(page, "https://example.com/offline")
    await page.context().close()
  })

  inBrowser(
    "is told which place is on its way, or did not come, as it is told of those that are there",
    async (session) => {
      const page = await newPage(session, "/")
      await page.getByText("Alias, end, password, limits").waitFor()
      let fail = () => {}
      const failed = new Promise<void>((resolve) => (fail = resolve))
      await page.route("**/assets/*.js", async (route) => {
        await failed
        await route.abort()
      })
      await follow(page, "/app/sign-up")
      await page.getByText("Loading", { exact: false }).waitFor({ state: "attached" })
      expect(await page.getByRole("heading").allTextContents()).toEqual(["Sign up"])
      await expectSound(page, "a place on its way", { within: "main" })
      fail()
      await page.getByRole("button", { name: "Try again" }).waitFor()
      expect(await page.getByRole("heading", { level: 1 }).allTextContents()).toEqual(["Sign up"])
      await page.context().close()
    }
  )

  inBrowser("makes an account, signs out and is asked to sign in", async (session) => {
    const page = await newPage(session, "/app/sign-up")
    await page.getByLabel("E-mail").fill("ada@example.com")
    await page.getByLabel("Password").fill("short")
    await page.getByRole("button", { name: "Sign up" }).click()
    await page.getByText("must have 12 to 128 characters").waitFor()
    const field = page.getByLabel("Password", { exact: true })
    const strength = page.getByRole("meter", { name: "Strength of the password" })
    for (const [password, word] of [
      ["abcdefghijklmnop", "weak"],
      // Nothing of it is cut off.
      ["correct horse battery staple".repeat(5), "strong"],
      ["correct horse battery staple", "strong"]
    ] as const) {
      await field.fill(password)
      expect(await field.inputValue()).toBe(password)
      await expect.poll(() => strength.getAttribute("aria-valuetext")).toBe(word)
    }
    expect(await field.getAttribute("type")).toBe("password")
    await page.getByRole("button", { name: "Show what you type" }).click()
    await expect.poll(() => field.getAttribute("type")).toBe("text")
    await field.fill("password2026!")
    await page.getByRole("button", { name: "Sign up" }).click()
    await page.getByText("is among the passwords that are guessed first").waitFor()
    await field.fill("correct horse battery staple")
    await page.getByLabel("First name").fill("Ada")
    await page.getByRole("button", { name: "Sign up" }).click()
    await page.getByRole("heading", { name: "No links yet" }).waitFor()
    await page.getByText("Ada", { exact: true }).waitFor()
    expect(await page.getByRole("link", { name: "Cluster" }).count()).toBe(0)
    await page.goto("/app/cluster")
    await page.getByRole("heading", { name: "For administrators" }).waitFor()
    // Nothing of the account or its password is kept in the browser, nor do scripts see the session.
    const expectNothingKept = async () =>
      expect(
        await page.evaluate("JSON.stringify([localStorage, sessionStorage, document.cookie])")
      ).not.toMatch(/ada|horse|session/i)
    await expectNothingKept()
    await page.getByRole("button", { name: "Sign out" }).click()
    // A page that is left takes its requests with it.
    await page.getByRole("link", { name: "Sign in" }).waitFor()
    await page.goto("/app/links")
    await page.getByRole("heading", { name: "Sign in" }).waitFor()
    await expectNothingKept()
    await page.context().close()
  })
})

describe("who is signed in", () => {
  inBrowser("finds, edits and deletes a link, and undoes that", async (session) => {
    await create(session, {
      url: "https://example.com/spring",
      alias: "spring",
      title: "Spring",
      tags: ["sale"]
    })
    await create(session, { url: "https://example.com/autumn", alias: "autumn", tags: ["sale"] })
    const page = await signedIn(session, "/app/links")
    // A delete can be undone for 8 s.
    await stretchWaits(page, 60)
    await row(page, "autumn").waitFor()
    await page.getByLabel("Search in keys, URLs and titles").fill("SPRING")
    await row(page, "autumn").waitFor({ state: "detached" })
    await row(page, "spring").getByRole("button", { name: "Only the tag sale" }).click()
    await page.waitForURL(/tag=sale/)

    await row(page, "spring").getByRole("button", { name: "Edit spring" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Long URL").fill("nonsense://")
    await dialog.getByRole("button", { name: "Save" }).click()
    await dialog.locator("p.fault").waitFor()
    await dialog.getByLabel("Long URL").fill("https://example.com/summer")
    await dialog.getByLabel("Title").fill("")
    await dialog.getByLabel("Visits at most").fill("9")
    await dialog.getByRole("button", { name: "Save" }).click()
    await dialog.waitFor({ state: "detached" })
    await row(page, "spring").getByText("example.com/summer").waitFor()
    await row(page, "spring").getByText("At most 9").waitFor()
    const seen = await fetch(`${session.base}/spring+`, { headers: { accept: "application/json" } })
    expect(await seen.json()).toMatchObject({ url: "https://example.com/summer" })

    const remove = async () => {
      await row(page, "spring").getByRole("button", { name: "Delete spring" }).click()
      await row(page, "spring").waitFor({ state: "detached" })
    }
    await remove()
    await page.getByRole("button", { name: "Undo" }).click()
    await row(page, "spring").waitFor()
    expect(await statusOf(session, "spring")).toBe(302)

    // Who leaves has not undone it: the delete goes out at once.
    await remove()
    await page.goto("/")
    await expect.poll(() => statusOf(session, "spring")).toBe(410)
    await page.close()
  })

  inBrowser("pages through links, and saves them all", async (session) => {
    // Of a bulk, the first one counts as the newest. Creates one by one can be of the same millisecond, and in any order then.
    const urls = Array.from({ length: 30 }, (_, index) => `https://example.com/paged/${index}`)
    await createMany(
      session,
      urls.map((url) => ({ url, tags: ["paged"] }))
    )
    const page = await signedIn(session, "/app/links?tag=paged")
    await expect.poll(() => page.locator("[data-key]").count()).toBe(25)
    await page.getByRole("button", { name: "Further" }).click()
    await expect.poll(() => page.locator("[data-key]").count()).toBe(5)
    await page.getByRole("button", { name: "Back" }).click()
    await expect.poll(() => page.locator("[data-key]").count()).toBe(25)

    const json = (await save(page, "JSON")).trim().split("\n")
    expect(json.map((line) => (JSON.parse(line) as { readonly url: string }).url)).toEqual(urls)
    const lines = (await save(page, "CSV")).trim().split("\r\n")
    expect(lines[0]).toMatch(/^key,shortUrl,url,title,tags,/)
    expect(lines).toHaveLength(31)
    await page.close()
  })

  inBrowser("imports 1,000 links from a file, and what cannot be made is named", async (session) => {
    const lines = Array.from({ length: 1_000 }, (_, n) => `old-${n},https://example.com/old/${n},Old ${n}`)
    const csv = `keyword,url,title\n${lines.join("\n")}\nno,not a URL,\nold-7,https://example.com/again,\n`
    const page = await signedIn(session, "/app/add")
    const file = { name: "yourls.csv", mimeType: "text/csv", buffer: Buffer.from(csv) }
    await page.locator("input[type=file]").setInputFiles(file)
    await page.getByRole("heading", { name: "YOURLS: 1,001 links" }).waitFor()
    await page.getByRole("button", { name: "Make 1,001 links" }).click()
    await page.getByRole("heading", { name: "1,000 links made" }).waitFor({ timeout: 60_000 })
    expect(await page.getByRole("progressbar").getAttribute("value")).toBe("1002")
    await page.getByText("2 lines not made").click()
    await page.getByText('key "old-7" is taken').waitFor()
    await page.getByText("url is no http or https URL").waitFor()
    await expectSound(page, "the outcome of an import")
    const { headers } = await fetch(`${session.base}/old-999`, { redirect: "manual" })
    expect(headers.get("location")).toBe("https://example.com/old/999")
    await page.goto("/app/links?q=example.com/old/")
    expect((await save(page, "JSON")).trim().split("\n")).toHaveLength(1_000)
    await page.close()
  })

  inBrowser("makes links of pasted lines", async (session) => {
    const page = await signedIn(session, "/app/add")
    await page.getByLabel("One URL a line").fill("https://example.com/p1 pasted-1\nexample.com/p2")
    await page.getByRole("button", { name: "Preview" }).click()
    await page.getByRole("button", { name: "Make 2 links" }).click()
    await page.getByRole("heading", { name: "2 links made" }).waitFor()
    expect(await statusOf(session, "pasted-1")).toBe(302)
    await page.close()
  })

  inBrowser("sees visits over time, and where they came from", async (session) => {
    await create(session, { url: "https://example.com/seen", alias: "seen" })
    const headers = {
      referer: "https://news.example/today",
      "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0"
    }
    for (let visit = 0; visit < 3; visit++) {
      await fetch(`${session.base}/seen`, { redirect: "manual", headers })
    }
    const previewed = async () => {
      const answer = await fetch(`${session.base}/seen+`, { headers: { accept: "application/json" } })
      return ((await answer.json()) as { readonly visits: number }).visits
    }
    await expect.poll(previewed).toBe(3)
    const page = await signedIn(session, "/app/links?q=seen")
    await row(page, "seen").getByText("3", { exact: true }).waitFor()
    await row(page, "seen").getByRole("link", { name: "statistics of seen" }).click()
    await page.locator(".uplot").waitFor()
    const day = page.getByRole("button", { name: "24 hours" })
    await expectAsked(page, /\/stats\?.*interval=hour/, () => day.click())
    await page.locator(".uplot").waitFor()
    await page.getByText("news.example").waitFor()
    await page.getByText("Firefox").waitFor()
    await page.getByText("As a table").click()
    // An hour may have begun between them.
    await page.getByRole("table").waitFor()
    const counts = await page.locator("td:nth-child(2)").allTextContents()
    expect(counts.reduce((sum, count) => sum + Number(count), 0)).toBe(3)
    await page.close()
  })

  inBrowser("sees where they are signed in, and ends that elsewhere", async (session) => {
    const elsewhere = await newPage(session, "/app/links")
    await signIn(elsewhere, session)
    // The one in which other tests are signed in, too: theirs goes on.
    const page = await signedIn(session, "/app/account")
    await page.getByText("This browser").waitFor()
    await expectSound(page, "the account")
    await page.getByRole("button", { name: "End all other sessions" }).click()
    await expect.poll(() => page.locator(".session").count()).toBe(1)
    await elsewhere.goto("/app/links")
    await elsewhere.getByRole("heading", { name: "Sign in" }).waitFor()
    await elsewhere.context().close()
    await page.close()
  })

  inBrowser("makes an API key, sees it once, and revokes it", async (session) => {
    const page = await signedIn(session, "/app/keys")
    await page.getByRole("button", { name: "New key" }).click()
    await page.getByLabel("Name").fill("my script")
    // As if the session had begun a while ago.
    const problem = {
      type: "https://linkmint.dev/problems/reauthentication-required",
      detail: "Sign in again."
    }
    const first = { status: 403, contentType: "application/problem+json", body: JSON.stringify(problem) }
    let made = 0
    await page.route("**/api/v1/api-keys", (route) =>
      route.request().method() === "POST" && made++ === 0 ? route.fulfill(first) : route.continue()
    )
    await page.getByRole("button", { name: "Make the key" }).click()
    await page.getByLabel("Your password").fill("not the password")
    await page.getByRole("button", { name: "Make the key" }).click()
    await page.getByText("The e-mail address or the password is wrong.").waitFor()
    await page.getByLabel("Your password").fill(session.password)
    await page.getByRole("button", { name: "Make the key" }).click()
    const secret = await page.locator(".secret code").textContent()
    const list = () => fetch(`${session.base}/api/v1/links?limit=1`, { headers: { "x-api-key": secret! } })
    expect((await list()).status).toBe(200)
    await page.getByRole("button", { name: "I have kept it" }).click()
    await page.reload()
    await page.getByText("my script").waitFor()
    expect(await page.content()).not.toContain(secret)
    await page.getByRole("button", { name: "Revoke my script" }).click()
    await page.getByRole("button", { name: "Revoke", exact: true }).click()
    await page.getByRole("heading", { name: "No keys yet" }).waitFor()
    await expect.poll(async () => (await list()).status).toBe(401)
    await page.close()
  })

  inBrowser(
    "disables, enables and deletes a user as administrator, and reads of it in the log",
    async (session) => {
      const email = "leaver@example.com"
      const password = "a horse of another colour"
      const added = await fetch(`${session.base}/api/v1/users`, {
        method: "POST",
        headers: { "x-api-key": session.adminKey, "content-type": "application/json" },
        body: JSON.stringify({ email, password })
      })
      expect(added.status).toBe(201)
      const page = await signedIn(session, "/app/users")
      await page.getByRole("button", { name: `Disable ${email}` }).click()
      await page.getByRole("button", { name: "Disable", exact: true }).click()
      await page.getByRole("button", { name: `Enable ${email}` }).click()
      await page.getByRole("button", { name: `Disable ${email}` }).waitFor()
      await page.getByRole("link", { name: `Audit log of ${email}` }).click()
      await page.getByText("Disabled an account", { exact: true }).last().waitFor()
      await page
        .getByRole("navigation", { name: "Administration" })
        .getByRole("link", { name: "Users" })
        .click()
      const made = await fetch(`${session.base}/api/v1/session`, {
        method: "POST",
        headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
        body: JSON.stringify({ email, password })
      })
      const cookie = made.headers.get("set-cookie")!.split(";")[0]!
      await fetch(`${session.base}/api/v1/links`, {
        method: "POST",
        headers: { cookie, "content-type": "application/json", "sec-fetch-site": "same-origin" },
        body: JSON.stringify({ url: "https://example.com/", alias: "of-the-leaver" })
      })
      expect(await statusOf(session, "of-the-leaver")).toBe(302)
      // As if the session had begun a while ago: the password is asked for, whatever is to be done.
      const problem = {
        type: "https://linkmint.dev/problems/reauthentication-required",
        detail: "Sign in again."
      }
      const tooOld = { status: 403, contentType: "application/problem+json", body: JSON.stringify(problem) }
      let refusals = 1
      await page.route("**/api/v1/users/*", (route) =>
        refusals-- > 0 ? route.fulfill(tooOld) : route.continue()
      )
      await page.getByRole("button", { name: `Make admin: ${email}` }).click()
      await page.getByRole("button", { name: "Make an administrator", exact: true }).click()
      await page.getByLabel("Your password").fill("not the password")
      await page.getByRole("button", { name: "Make an administrator", exact: true }).click()
      await page.getByText("The e-mail address or the password is wrong.").waitFor()
      await page.getByLabel("Your password").fill(session.password)
      await page.getByRole("button", { name: "Make an administrator", exact: true }).click()
      // What asks nothing otherwise asks then.
      await page.getByRole("button", { name: `Unmake admin: ${email}` }).waitFor()
      refusals = 2
      await page.getByRole("button", { name: `Unmake admin: ${email}` }).click()
      await page.getByRole("button", { name: "Unmake an administrator", exact: true }).click()
      await page.getByLabel("Your password").fill(session.password)
      await page.getByRole("button", { name: "Unmake an administrator", exact: true }).click()
      await page.getByRole("button", { name: `Make admin: ${email}` }).waitFor()
      await page.getByRole("button", { name: `Delete ${email}` }).click()
      await page.getByLabel("Delete all links of this user, too").check()
      await expectSound(page, "the deletion of a user", { within: "dialog" })
      const confirm = page.getByRole("button", { name: "Delete", exact: true })
      await expectShown(page, `${email} is deleted.`, () => confirm.click())
      await page.getByText(email, { exact: true }).waitFor({ state: "detached" })
      await expect.poll(() => statusOf(session, "of-the-leaver")).toBe(410)
      await page.close()
    }
  )

  inBrowser("deletes their own account, with the password and not without", async (session) => {
    const email = "own-leaver@example.com"
    const password = "a horse of yet another colour"
    const added = await fetch(`${session.base}/api/v1/users`, {
      method: "POST",
      headers: { "x-api-key": session.adminKey, "content-type": "application/json" },
      body: JSON.stringify({ email, password })
    })
    expect(added.status).toBe(201)
    const page = await newPage(session, "/app/account")
    await page.getByLabel("E-mail").fill(email)
    await page.getByLabel("Password", { exact: true }).fill(password)
    await page.getByRole("button", { name: "Sign in", exact: true }).click()
    await page.getByRole("button", { name: "Delete this account" }).click()
    const confirm = page.getByRole("button", { name: "Delete my account" })
    expect(await confirm.isDisabled()).toBe(true)
    await expectSound(page, "the deletion of one's account", { within: "dialog" })
    await page.getByLabel("Your password").fill("not the password")
    await confirm.click()
    await page.getByText("The e-mail address or the password is wrong.").waitFor()
    const users = () =>
      fetch(`${session.base}/api/v1/users?email=${email}`, { headers: { "x-api-key": session.adminKey } })
    expect(await (await users()).text()).toContain(email)
    await page.getByLabel("Your password").fill(password)
    await expectShown(page, "Your account is deleted.", () => confirm.click())
    expect(await (await users()).json()).toEqual({ data: [], nextCursor: null })
    await page.getByRole("link", { name: "Sign in" }).first().waitFor()
    await page.context().close()
  })

  inBrowser("is told when the session has ended, and asked to sign in again", async (session) => {
    const page = await newPage(session, "/app/links")
    await signIn(page, session)
    const cookies = await page.context().cookies()
    const cookie = cookies.find(({ name }) => name === "linkmint_session")
    await page.context().addCookies([{ ...cookie!, value: "ended" }])
    const statistics = page.getByRole("link", { name: "Statistics", exact: true })
    await expectShown(page, "Your session has ended.", () => statistics.click())
    await page.getByRole("heading", { name: "Sign in" }).waitFor()
    const names = async () => (await page.context().cookies()).map(({ name }) => name)
    await expect.poll(names).not.toContain("linkmint_session")
    await page.context().close()
  })
})

describe("every page", () => {
  inBrowser("is sound in both themes on phones and desktops", async (session) => {
    const wide = `wide-${"w".repeat(59)}`
    await create(session, {
      url: `https://example.com/${"long".repeat(60)}`,
      alias: wide,
      title: "A title of some length, so that there is hardly room for it on a phone's screen",
      tags: ["one", "two"],
      maxVisits: 5,
      expiresAt: "2999-01-01T00:00:00Z",
      password: "secret"
    })
    await create(session, { url: "https://example.com/", alias: "sound-visited" })
    await fetch(`${session.base}/sound-visited`, { redirect: "manual" })
    await visitCounted(session, "sound-visited")
    for (const look of looks) {
      const name = nameOf(look)
      const page = await newPage(session, "/", look)
      await page.getByText("Alias, end, password, limits").click()
      await page.getByRole("button", { name: "Shorten", exact: true }).click()
      await expectSound(page, `/ ${name}`)
      await shorten(page, "https://example.com/sound")
      await page.getByRole("img", { name: "QR code of" }).waitFor()
      await expectSound(page, `a new link ${name}`)
      await follow(page, "/app/sign-up")
      await page.getByRole("heading", { name: "Sign up" }).waitFor()
      await page.getByLabel("Password").fill("some words")
      await page.getByText("too short").waitFor()
      await expectSound(page, `/app/sign-up ${name}`)
      await follow(page, "/app/links")
      await page.getByRole("heading", { name: "Sign in" }).waitFor()
      await expectSound(page, `/app/sign-in ${name}`)
      await signIn(page, session)
      await page.locator("[data-key]").first().waitFor()
      await expectSound(page, `/app/links ${name}`)
      // A delete can be undone for 8 s.
      await stretchWaits(page, 60)
      await page
        .getByRole("button", { name: /^Delete/ })
        .first()
        .click()
      await page.getByRole("button", { name: "Undo" }).waitFor()
      await expectSound(page, `the undo of a delete ${name}`, { within: ".toasts" })
      await page.getByRole("button", { name: "Undo" }).click()
      for (const [path, sign] of [
        ["/app/links?q=nothing-has-this", "Nothing found"],
        [`/app/links/${wide}/stats`, "No visits in the last 30 days"],
        ["/app/stats", "Visits by the day"],
        ["/app/keys", "No keys yet"],
        ["/app/webhooks", "No webhooks yet"],
        ["/app/cluster", "Held by nodes"],
        ["/app/users", "Make admin"],
        ["/app/audit", "in a session"],
        ["/app/add", "From a file"],
        ["/app/nowhere", "There is nothing here"]
      ] as const) {
        await follow(page, path)
        await page.getByText(sign).first().waitFor()
        await expectSound(page, `${path} ${name}`)
      }
      await page.context().close()
    }
  })

  inBrowser("keeps the colours that were chosen", async (session) => {
    const page = await newPage(session, "/", { colorScheme: "light" })
    const paper = () => page.evaluate<string>("getComputedStyle(document.body).backgroundColor")
    const light = await paper()
    await page.getByRole("button", { name: /Change to light/ }).click()
    await page.getByRole("button", { name: /Change to dark/ }).click()
    const isDark = page.getByRole("button", { name: /^Colours: dark/ })
    await isDark.waitFor()
    const dark = await paper()
    expect(dark).not.toBe(light)
    await page.reload()
    await isDark.waitFor()
    expect(await paper()).toBe(dark)
    await page.context().close()
  })

  inBrowser(
    "loads little: less than 60 kB for the first view, and nothing from elsewhere",
    async (session) => {
      const page = await newPage(session, "about:blank")
      const sizes: Array<Promise<number>> = []
      const strangers: Array<string> = []
      page.on("requestfinished", (request) => {
        if (!request.url().startsWith(session.base)) strangers.push(request.url())
        sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize))
      })
      await page.goto("/", { waitUntil: "networkidle" })
      await page.evaluate("document.fonts.ready.then(() => {})")
      const icon = await page.request.get(await iconOf(page))
      expect(icon.status()).toBe(200)
      sizes.push(icon.body().then(({ length }) => length))
      expect(sizes.length).toBeGreaterThan(3)
      const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
      expect(strangers).toEqual([])
      expect(total).toBeGreaterThan(10_000)
      expect(total).toBeLessThan(60_000)
      await page.context().close()
    }
  )
})
