import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import jsQR from "jsqr"
import { PNG } from "pngjs"
import type { Page } from "playwright-core"
import { afterAll, describe, expect } from "vitest"
import { asAdmin, create, inBrowserOf, type Look, looks, row, signedIn } from "./InBrowser.ts"
import { expectSoundInBothThemes, type Session } from "./Session.ts"

/** A red rectangle. */
const logo = () => {
  const png = new PNG({ width: 60, height: 40 })
  for (let at = 0; at < png.data.length; at += 4) png.data.set([220, 30, 30, 255], at)
  return PNG.sync.write(png)
}

const folder = mkdtempSync(join(tmpdir(), "linkmint-logo-"))
afterAll(() => rmSync(folder, { recursive: true }))
const logoFile = join(folder, "logo.png")
writeFileSync(logoFile, logo())

const inBrowser = inBrowserOf("The design of QR codes is", { BRAND_LOGO_FILE: logoFile })

const saved = async (page: Page, name: "Save PNG" | "Save SVG") => {
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name }).click()
  ])
  return readFileSync(await file.path())
}

/** What a reader makes of a picture. */
const textOf = ({ data, height, width }: PNG) =>
  jsQR.default(new Uint8ClampedArray(data), width, height, { inversionAttempts: "dontInvert" })?.data

/** The colours of a picture's pixels. */
const coloursOf = ({ data }: PNG): ReadonlySet<string> => {
  // As numbers at first, of which there are a million.
  const pixels = new Set<number>()
  for (let at = 0; at < data.length; at += 4) pixels.add(data.readUIntBE(at, 3))
  return new Set([...pixels].map((pixel) => pixel.toString(16).padStart(6, "0")))
}

/** Draws an SVG in this page, as a browser does. */
const rasterised = async (page: Page, svg: Buffer) => {
  await page.setContent(`<style>body{margin:0}svg{display:block}</style>${svg.toString()}`)
  return PNG.sync.read(await page.screenshot())
}

/** The page with the design of a link's code open. */
const designing = async (session: Session, key: string, look: Look) => {
  const page = await signedIn(session, `/app/links?q=${key}`, look)
  await row(page, key)
    .getByRole("button", { name: `QR code of ${key}` })
    .click()
  await page.getByRole("img", { name: "QR code of" }).waitFor()
  await page.getByText("Colours, shape, logo").click()
  return page
}

describe("a QR code", () => {
  inBrowser("can be read in every shape, in colours and with a logo, as PNG and as SVG", async (session) => {
    const key = "designed/2026"
    await create(session, { url: "https://example.com/", alias: key })
    const byApi = await Promise.all(
      ["square", "round", "dot"].map(async (shape) => {
        const path = `/api/v1/links/${encodeURIComponent(key)}/qr?shape=${shape}&logo=brand&size=1024`
        const answer = await asAdmin(session, "GET", path)
        return [shape, Buffer.from(await answer.arrayBuffer())] as const
      })
    )
    const page = await designing(session, key, looks[0])
    const drawing = await session.browser.newPage({ viewport: { width: 1024, height: 1024 } })
    const pictures = new Set<string>()
    const readBoth = async (what: string) => {
      const png = await saved(page, "Save PNG")
      const picture = PNG.sync.read(png)
      expect(textOf(picture), `${what} as PNG`).toBe(`${session.base}/${key}`)
      const svg = await saved(page, "Save SVG")
      expect(textOf(await rasterised(drawing, svg)), `${what} as SVG`).toBe(`${session.base}/${key}`)
      pictures.add(png.toString("base64"))
      return picture
    }
    for (const shape of ["Squares", "Rounded squares", "Dots"]) {
      await page.getByLabel("Shape").selectOption(shape)
      await readBoth(shape)
    }
    await page.getByLabel("Colour", { exact: true }).fill("#0a3d91")
    await page.getByLabel("Background").fill("#fff4d6")
    expect([...coloursOf(await readBoth("colours"))]).toEqual(expect.arrayContaining(["0a3d91", "fff4d6"]))
    await page.getByLabel("Logo").setInputFiles({ name: "logo.png", mimeType: "image/png", buffer: logo() })
    await expect
      .poll(async () => coloursOf(PNG.sync.read(await saved(page, "Save PNG"))).has("dc1e1e"), {
        timeout: 20_000
      })
      .toBe(true)
    await readBoth("a logo")
    expect(pictures.size).toBe(5)
    for (const [shape, svg] of byApi) {
      const drawn = await rasterised(drawing, svg)
      expect(textOf(drawn), `${shape} by the API`).toBe(`${session.base}/${key}`)
      expect(coloursOf(drawn).has("dc1e1e")).toBe(true)
    }
    await drawing.close()
    // A link with such a key is edited and counted as any other.
    await page.goto(`/app/links?q=${key}`)
    await row(page, key)
      .getByRole("button", { name: `Edit ${key}` })
      .click()
    await page.getByRole("textbox", { name: "Title" }).fill("Red in the middle")
    await page.getByRole("button", { name: "Save", exact: true }).click()
    await page.getByText("Red in the middle").waitFor()
    await row(page, key).locator("a.visits").click()
    await page.waitForURL(/\/app\/links\/designed%2F2026\/stats$/)
    await page.getByText("No visits in the last").waitFor()
    await page.close()
  })

  inBrowser("is designed on phones and desktops, and its faults are told", async (session) => {
    await create(session, { url: "https://example.com/", alias: "drafted" })
    for (const look of looks) {
      const page = await designing(session, "drafted", look)
      await expectSoundInBothThemes(page, `the design of a QR code ${look.viewport.width}`)
      await page.getByLabel("Colour", { exact: true }).fill("#ffe9a8")
      await page.getByText("Some readers will not read this.").waitFor()
      const text = { name: "logo.png", mimeType: "image/png", buffer: Buffer.from("no picture") }
      await page.getByLabel("Logo").setInputFiles(text)
      await page.getByText("It must be a picture of 512 kB at most").waitFor()
      await expectSoundInBothThemes(page, `a design that cannot be read ${look.viewport.width}`)
      await page.close()
    }
  })
})
