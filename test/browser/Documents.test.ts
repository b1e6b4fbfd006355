import { describe, expect } from "vitest"
import { inBrowserOf, looks, nameOf } from "./InBrowser.ts"
import { expectSoundInBothThemes, faultsOf, newPage } from "./Session.ts"

const inBrowser = inBrowserOf("The page of the API and that of unknown paths are")

describe("/docs", () => {
  inBrowser("says what each operation does, in colours that can be read", async (session) => {
    for (const look of looks) {
      const page = await newPage(session, "/docs", look)
      await page.locator(".opblock").first().waitFor()
      const summaries = await page.locator(".opblock-summary-description").allTextContents()
      expect(summaries).toHaveLength(await page.locator(".opblock").count())
      for (const summary of summaries) expect(summary).toMatch(/^[A-Z].{5,60}$/)
      // Swagger UI's markup is not ours; its colours are.
      const contrast = async (within: string) => {
        const faults = await faultsOf(page, { rules: ["color-contrast"], within })
        return faults.flatMap(({ nodes }) => nodes.map(({ any, html }) => `${html} ${any[0]!.message}`))
      }
      expect(await contrast("body"), nameOf(look)).toEqual([])
      await page.getByText("Create a link", { exact: true }).click()
      await page.getByRole("button", { name: "Try it out" }).click()
      await page.getByRole("button", { name: "Execute" }).waitFor()
      // The others are as they were.
      expect(await contrast(".opblock.is-open"), `an operation ${nameOf(look)}`).toEqual([])
      await page.context().close()
    }
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
