import { describe, expect } from "vitest"
import { create, inBrowserOf, looks } from "./InBrowser.ts"
import { expectSoundInBothThemes, newPage } from "./Session.ts"

const inBrowser = inBrowserOf("The first paint is")

/** At 400 kbit/s this takes 0.16 s, which leaves half a second beside a round trip of 0.4 s. */
const htmlMax_bytes = 8_000

describe("the first paint", () => {
  inBrowser("needs the HTML alone, which is small, and what is typed then is not lost", async (session) => {
    for (const look of looks) {
      const page = await newPage(session, "about:blank", look)
      let release = () => {}
      const released = new Promise<void>((resolve) => (release = resolve))
      await page.route("**/assets/**", async (route) => {
        await released
        await route.continue()
      })
      const answered = page.waitForEvent("requestfinished", (request) => request.isNavigationRequest())
      await page.goto("/", { waitUntil: "commit" })
      const input = page.getByLabel("Long URL")
      const heading = page.getByRole("heading", { name: "Long address in." })
      await heading.waitFor()
      const { responseBodySize } = await (await answered).sizes()
      expect(responseBodySize).toBeGreaterThan(1_000)
      expect(responseBodySize).toBeLessThan(htmlMax_bytes)
      const colour = () => page.evaluate<string>("getComputedStyle(document.body).backgroundColor")
      await expect.poll(colour).toBe(look.colorScheme === "dark" ? "rgb(12, 19, 17)" : "rgb(238, 243, 239)")
      await input.pressSequentially("example.com/early")
      // It is too early: nothing is sent, and nothing is lost.
      await page.keyboard.press("Enter")
      await page.keyboard.press("ArrowLeft")
      await expectSoundInBothThemes(page, `before the script ${look.viewport.width}`)
      // The font, which comes later, has lines of another height.
      const boxes = async () =>
        Promise.all(
          [heading, input, page.getByRole("link", { name: "Linkmint" })].map((one) => one.boundingBox())
        )
      const before = await boxes()
      release()
      await page.getByText("Alias, end, password, limits").waitFor()
      await expect.poll(() => input.inputValue()).toBe("example.com/early")
      await expect.poll(() => page.evaluate("document.activeElement.name")).toBe("url")
      await page.keyboard.type("!")
      await expect.poll(() => input.inputValue()).toBe("example.com/earl!y")
      await page.evaluate("document.fonts.ready.then(() => {})")
      const after = await boxes()
      for (const [index, box] of before.entries()) {
        expect(Math.abs(after[index]!.x - box!.x)).toBeLessThanOrEqual(1)
        expect(Math.abs(after[index]!.y - box!.y)).toBeLessThanOrEqual(12)
      }
      await page.getByRole("button", { name: "Shorten", exact: true }).click()
      await page.getByRole("heading", { name: "Your short link" }).waitFor()
      await page.context().close()
    }
  })

  inBrowser("has the colours that were chosen, before any script", async (session) => {
    const page = await newPage(session, "/", { colorScheme: "light" })
    await page.getByRole("button", { name: /Change to light/ }).click()
    await page.getByRole("button", { name: /Change to dark/ }).click()
    await page.getByRole("button", { name: /^Colours: dark/ }).waitFor()
    await page.route("**/assets/**", (route) => route.abort())
    for (const path of ["/", "/app/links"]) {
      await page.goto(path)
      expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(12, 19, 17)")
    }
    await page.context().close()
  })

  inBrowser("is in the language that the browser prefers", async (session) => {
    const page = await newPage(session, "about:blank", { locale: "de-DE" })
    await page.route("**/assets/**", (route) => route.abort())
    await page.goto("/")
    await page.getByRole("heading", { name: "Lange Adresse rein." }).waitFor()
    await page.getByLabel("Lange Adresse").waitFor()
    expect(await page.evaluate("document.documentElement.lang")).toBe("de")
    await page.context().close()
  })

  inBrowser("of another place has no form", async (session) => {
    await create(session, { url: "https://example.com/", alias: "painted-one" })
    const page = await newPage(session, "about:blank")
    await page.route("**/assets/**", (route) => route.abort())
    await page.goto("/app/links/painted-one/stats")
    await page.getByRole("link", { name: "Linkmint" }).waitFor()
    expect(await page.getByLabel("Long URL").count()).toBe(0)
    await page.context().close()
  })
})
