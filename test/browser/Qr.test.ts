import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import jsQR from "jsqr"
import { PNG } from "pngjs"
import type { Page } from "playwright-core"
import { afterAll, describe, expect } from "vitest"
import { asAdmin, create, inBrowserOf, type Look, looks, qrDrawn, row, signedIn } from "./InBrowser.ts"
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

/** A picture from some distance, as readers see it: every second pixel of each second line. */
const halved = ({ data, height, width }: PNG): PNG => {
  const far = new PNG({ width: width >> 1, height: height >> 1 })
  for (let y = 0; y < far.height; y++) {
    for (let x = 0; x < far.width; x++) {
      far.data.writeUInt32LE(data.readUInt32LE(4 * (2 * y * width + 2 * x)), 4 * (y * far.width + x))
    }
  }
  return far
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

/** Does what has the page draw the code in another way, and waits for that. */
const redrawn = async (page: Page, act: () => Promise<unknown>) => {
  const picture = () => page.evaluate<string>(`document.querySelector(".qr canvas").toDataURL()`)
  const before = await picture()
  await act()
  await expect.poll(picture).not.toBe(before)
}

/** Draws an SVG in this page, as a browser does. */
const rasterised = async (page: Page, svg: Buffer) => {
  await page.setContent(
    `<style>body{margin:0}svg{display:block;width:512px;height:512px}</style>${svg.toString()}`
  )
  return PNG.sync.read(await page.screenshot())
}

/** The page with the design of a link's code open. */
const designing = async (session: Session, key: string, look: Look) => {
  const page = await signedIn(session, `/app/links?q=${key}`, look)
  await row(page, key)
    .getByRole("button", { name: `QR code of ${key}` })
    .click()
  await qrDrawn(page)
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
    const drawing = await session.browser.newPage({ viewport: { width: 512, height: 512 } })
    const pictures = new Set<string>()
    const readBoth = async (what: string) => {
      const png = await saved(page, "Save PNG")
      const picture = PNG.sync.read(png)
      expect(textOf(halved(picture)), `${what} as PNG`).toBe(`${session.base}/${key}`)
      const svg = await saved(page, "Save SVG")
      expect(textOf(await rasterised(drawing, svg)), `${what} as SVG`).toBe(`${session.base}/${key}`)
      pictures.add(png.toString("base64"))
      return picture
    }
    await readBoth("Squares")
    for (const shape of ["Rounded squares", "Dots"]) {
      await redrawn(page, () => page.getByLabel("Shape").selectOption(shape))
      await readBoth(shape)
    }
    await redrawn(page, () => page.getByLabel("Colour", { exact: true }).fill("#0a3d91"))
    await redrawn(page, () => page.getByLabel("Background").fill("#fff4d6"))
    expect([...coloursOf(await readBoth("colours"))]).toEqual(expect.arrayContaining(["0a3d91", "fff4d6"]))
    const file = { name: "logo.png", mimeType: "image/png", buffer: logo() }
    await redrawn(page, () => page.getByLabel("Logo").setInputFiles(file))
    expect(coloursOf(await readBoth("a logo")).has("dc1e1e")).toBe(true)
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
