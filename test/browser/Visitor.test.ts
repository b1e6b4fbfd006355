import { readdirSync, statSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Gallery from "./Gallery.ts"
import { create, inBrowserOf } from "./InBrowser.ts"
import { expectFits, expectSound, expectSoundInBothThemes, iconOf, newPage } from "./Session.ts"

const inBrowser = inBrowserOf("The pages of visitors are")
let gallery: Gallery.Gallery

beforeAll(async () => {
  gallery = await Gallery.open()
})
afterAll(() => gallery.close())

/** Somewhere else, where a link can lead. */
const elsewhere = async () => {
  const server = createServer((_, response) => response.end("<title>Elsewhere</title>"))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/there`, close: () => server.close() }
}

const paper = (page: Page) => page.evaluate<string>("getComputedStyle(document.body).backgroundColor")

/** What has the keyboard, and whether that can be seen. */
const focused = (page: Page) =>
  page.evaluate<readonly [string, boolean]>(`(() => {
    const { activeElement } = document
    const name = activeElement.name || activeElement.textContent.trim()
    return [name, getComputedStyle(activeElement).outlineStyle !== "none"]
  })()`)

/** Whether a page is made otherwise than all that were asked about: many differ in their words alone, which can be too wide, and nothing else. */
const differ = () => {
  const seen = new Set<string>()
  return async (page: Page) => {
    const made = await page.evaluate<string>(`JSON.stringify([...document.querySelectorAll("*")].map(
      (element) => [element.tagName, element.getAttribute("class"), ...element.getAttributeNames()]))`)
    return seen.size < seen.add(made).size
  }
}

describe("every page of a visitor", () => {
  inBrowser("is sound in both themes on phones and desktops", async (session) => {
    const page = await newPage(session, "about:blank", { baseURL: gallery.base })
    const differs = differ()
    for (const name of Gallery.names) {
      await page.emulateMedia({ colorScheme: "light" })
      await page.goto(`/styled/${name}`)
      expect(await page.locator("h1").count(), name).toBe(1)
      const isOther = await differs(page)
      // From 320 to 390 pixels they are laid out by the same rules.
      for (const width of [1280, 390, 320]) {
        await page.setViewportSize({ width, height: 700 })
        if (isOther && width !== 390) await expectSoundInBothThemes(page, `${name} ${width}`)
        else await expectFits(page, `${name} ${width}`)
      }
      if (!isOther) continue
      for (const [colorScheme, colour] of [
        ["light", "rgb(238, 243, 239)"],
        ["dark", "rgb(12, 19, 17)"]
      ] as const) {
        await page.emulateMedia({ colorScheme })
        expect(await paper(page), name).toBe(colour)
      }
    }
    await page.context().close()
  })

  inBrowser("is sound without its styles", async (session) => {
    const page = await newPage(session, "about:blank", {
      baseURL: gallery.base,
      viewport: { width: 390, height: 700 }
    })
    const text = () => page.evaluate<string>("getComputedStyle(document.body).color")
    const differs = differ()
    for (const name of Gallery.names) {
      await page.goto(`/plain/${name}`)
      await page.locator("h1").waitFor()
      if (!(await differs(page))) continue
      await page.emulateMedia({ colorScheme: "light" })
      expect(await text(), name).toBe("rgb(0, 0, 0)")
      await expectSound(page, `${name} without styles`)
      // The browser's own dark, on which its own text can be read. Axe takes it for white.
      await page.emulateMedia({ colorScheme: "dark" })
      expect(await text(), name).toBe("rgb(255, 255, 255)")
    }
    await page.context().close()
  })

  inBrowser("is sound where its styles do not come, as while nodes are replaced", async (session) => {
    const page = await newPage(session, "about:blank", { baseURL: gallery.base })
    // Empty rather than missing, since axe asks again for a stylesheet that is missing.
    await page.route("**/assets/**", (route) => route.fulfill({ contentType: "text/css", body: "" }))
    for (const name of ["no-link", "asked", "preview"]) {
      await page.goto(`/styled/${name}`)
      await expectSound(page, `${name} whose styles did not come`)
    }
    await page.context().close()
  })

  inBrowser(
    "is printed in dark ink, without what leads elsewhere, whatever its colours are",
    async (session) => {
      const page = await newPage(session, "/styled/preview", { colorScheme: "dark", baseURL: gallery.base })
      await page.context().addCookies([{ name: "linkmint_theme", value: "dark", url: gallery.base }])
      await page.reload()
      expect(await paper(page)).toBe("rgb(12, 19, 17)")
      await page.emulateMedia({ media: "print" })
      expect(await page.evaluate("getComputedStyle(document.body).color")).toBe("rgb(16, 32, 27)")
      await page.getByText("shop.example.com").waitFor()
      expect(await page.locator(".engraving").isVisible()).toBe(false)
      expect(await page.getByRole("link", { name: "Go to the home page" }).isVisible()).toBe(false)
      await page.context().close()
    }
  )
})

describe("a visitor", () => {
  inBrowser("opens a guarded link with the keyboard alone, and without scripts", async (session) => {
    const there = await elsewhere()
    await create(session, { url: there.url, alias: "keyboard", password: "open sesame", forwardQuery: true })
    const page = await newPage(session, "/keyboard?from=here", { javaScriptEnabled: false })
    expect(await page.title()).toBe("Password needed · Linkmint")
    await expect.poll(() => focused(page)).toEqual(["password", true])
    await page.keyboard.type("wrong")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Wrong password" }).waitFor()
    await expect.poll(() => focused(page)).toEqual(["password", true])
    const field = page.getByLabel("Password", { exact: true })
    expect(await field.getAttribute("aria-invalid")).toBe("true")
    const note = await field.getAttribute("aria-describedby")
    expect(await page.locator(`#${note}`).textContent()).toBe("That was not the password.")
    await page.keyboard.press("Shift+Tab")
    await expect.poll(() => focused(page)).toEqual(["Linkmint", true])
    await page.keyboard.press("Tab")
    await page.keyboard.type("open sesame")
    await page.keyboard.press("Tab")
    await expect.poll(() => focused(page)).toEqual(["Open the link", true])
    await page.keyboard.press("Enter")
    await page.waitForURL(`${there.url}?from=here`)
    await page.context().close()
    there.close()
  })

  inBrowser("comes home from wherever there is nothing", async (session) => {
    await create(session, { url: "https://example.com/", alias: "look-at-this" })
    const page = await newPage(session, "about:blank")
    const home = page.getByRole("link", { name: "Go to the home page" })
    const brand = page.getByRole("link", { name: "Linkmint", exact: true })
    for (const path of ["/nothing/here", "/look-at-this+", "/%00", "/nothing-here"]) {
      await page.goto(path)
      for (const way of [home, brand]) expect(await way.getAttribute("href"), path).toBe("/")
    }
    // What one of them leads to, all do.
    for (const way of [home, brand]) {
      await page.goto("/nothing-here")
      await way.click()
      await page.getByLabel("Long URL").waitFor()
    }
    await page.context().close()
  })

  inBrowser(
    "sees the colours that were chosen on the web page, until the system's are again",
    async (session) => {
      const page = await newPage(session, "/", { colorScheme: "light" })
      const light = await paper(page)
      await page.getByRole("button", { name: /Change to light/ }).click()
      await page.getByRole("button", { name: /Change to dark/ }).click()
      // The cookie is set with the colours.
      await page.getByRole("button", { name: /^Colours: dark/ }).waitFor()
      await page.goto("/nothing-here")
      expect(await paper(page)).not.toBe(light)
      await page.goto("/")
      await page.getByRole("button", { name: /Change to as the system/ }).click()
      await page.getByRole("button", { name: /Change to light/ }).waitFor()
      await page.goto("/nothing-here")
      expect(await paper(page)).toBe(light)
      await page.context().close()
    }
  )

  inBrowser(
    "loads little: a page, its styles, a font and an icon, which the web page has, too",
    async (session) => {
      const page = await newPage(session, "about:blank")
      const loaded: Array<string> = []
      page.on("requestfinished", (request) => loaded.push(new URL(request.url()).pathname))
      const load = async (path: string) => {
        await page.goto(path, { waitUntil: "networkidle" })
        await page.evaluate("document.fonts.ready.then(() => {})")
        // Without it a browser with windows would ask for /favicon.ico, and so look for one more link that is not there.
        const icon = new URL(await iconOf(page))
        expect((await page.request.get(icon.href)).status()).toBe(200)
        return [...new Set([...loaded.splice(0), icon.pathname])]
      }
      const all = await load("/nothing-here")
      expect(all.map((path) => path.replace(/^(\/assets\/[a-z]+).*\./, "$1.")).toSorted()).toEqual([
        "/assets/familjen.woff2",
        "/assets/icon.svg",
        "/assets/visitor.css",
        "/nothing-here"
      ])
      const shared = all.filter((path) => /\.(woff2|svg)$/.test(path))
      expect(await load("/")).toEqual(expect.arrayContaining(shared))
      await page.context().close()
    }
  )

  inBrowser("has nothing run that somebody has put into an address", async (session) => {
    const payloads = [
      `https://example.com/?a="><script>alert(1)</script>`,
      `https://example.com/'><img/src=x/onerror=alert(1)>`,
      "https://example.com/</title><svg/onload=alert(1)>",
      "https://example.com/#javascript:alert(1)"
    ]
    for (const [index, url] of payloads.entries()) {
      await create(session, { url, alias: `hostile-${index}`, title: `"><script>alert(1)</script>` })
    }
    const page = await newPage(session, "about:blank")
    const alerts: Array<string> = []
    page.on("dialog", (dialog) => {
      alerts.push(dialog.message())
      void dialog.dismiss()
    })
    const paths = [
      ...payloads.map((_, index) => `/hostile-${index}+`),
      "/<script>alert(1)</script>",
      "/%22%3E%3Cscript%3Ealert(1)%3C/script%3E+",
      `/nothing-here?"><script>alert(1)</script>`,
      "/a/<img src=x onerror=alert(1)>"
    ]
    for (const path of paths) {
      await page.goto(path)
      await page.locator("h1").waitFor()
      expect(await page.locator("script, main img, [onload], [onerror]").count(), path).toBe(0)
      // Also that the browser has nothing to complain about.
      await expectFits(page, path)
    }
    await page.goto("/hostile-0+")
    await page.getByText("https://example.com/?a=%22%3E%3Cscript%3Ealert(1)%3C/script%3E").waitFor()
    expect(alerts).toEqual([])
    await page.context().close()
  })
})

it("the styles of visitors' pages are small", () => {
  const folder = "dist/src/http/web/assets"
  const [styles, ...others] = readdirSync(folder).filter((name) => /^visitor-.*\.css$/.test(name))
  expect(others).toEqual([])
  expect(statSync(`${folder}/${styles}`).size).toBeLessThanOrEqual(15_360)
})
