import { describe, expect } from "vitest"
import { inBrowserOf, type Look, looks } from "./InBrowser.ts"
import { expectSoundInBothThemes, faultsOf, newPage } from "./Session.ts"

const inBrowser = inBrowserOf("The page of the API and that of unknown paths are")

describe("/docs", () => {
  inBrowser("says what each operation does, in colours that can be read", async (session) => {
    const page = await newPage(session, "/docs")
    const { paths } = (await (await fetch(`${session.base}/openapi.json`)).json()) as {
      readonly paths: Readonly<Record<string, object>>
    }
    const operations = Object.values(paths).flatMap((path) => Object.keys(path)).length
    // They are drawn one after the other, which takes seconds.
    await expect.poll(() => page.locator(".opblock").count(), { timeout: 60_000 }).toBe(operations)
    const summaries = await page.locator(".opblock-summary-description").allTextContents()
    expect(summaries).toHaveLength(operations)
    for (const summary of summaries) expect(summary).toMatch(/^[A-Z].{5,60}$/)
    // Swagger UI's markup is not ours; its colours are. It takes seconds to be drawn, so one page is looked at in each way.
    const expectContrast = async (within: string, { colorScheme, viewport }: Look) => {
      await page.setViewportSize(viewport)
      await page.emulateMedia({ colorScheme })
      const faults = await faultsOf(page, { rules: ["color-contrast"], within })
      const told = faults.flatMap(({ nodes }) => nodes.map(({ any, html }) => `${html} ${any[0]!.message}`))
      expect(told, `${within} ${viewport.width} ${colorScheme}`).toEqual([])
    }
    // The whole once, since it has its colours in every theme.
    const scheme = () => page.evaluate<string>("getComputedStyle(document.documentElement).colorScheme")
    await expectContrast("body", looks[0])
    expect(await scheme()).toBe("light")
    await page.getByText("Create a link", { exact: true }).click()
    await page.getByRole("button", { name: "Try it out" }).click()
    await page.getByRole("button", { name: "Execute" }).waitFor()
    // The others are as they were.
    for (const look of looks) await expectContrast(".opblock.is-open", look)
    expect(await scheme()).toBe("light")
    await page.context().close()
  })
})

describe("a path that is nothing", () => {
  inBrowser("is a page in browsers, and a problem for programs", async (session) => {
    for (const look of looks) {
      const page = await newPage(session, "about:blank", look)
      const answer = await page.goto("/no/such/path")
      expect(answer!.status()).toBe(404)
      await page.getByRole("heading", { level: 1 }).waitFor()
      await expectSoundInBothThemes(page, `/no/such/path ${look.viewport.width}`)
      await page.context().close()
    }
    for (const accept of ["application/json", "*/*"]) {
      const answer = await fetch(`${session.base}/no/such/path`, { headers: { accept } })
      expect(answer.status).toBe(404)
      if (accept === "application/json") {
        expect(answer.headers.get("content-type")).toBe("application/problem+json")
      }
    }
    const api = await fetch(`${session.base}/api/no/such/path`, { headers: { accept: "text/html" } })
    expect(api.status).toBe(404)
    expect(api.headers.get("content-type")).toBe("application/problem+json")
  })
})
