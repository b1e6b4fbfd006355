import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect } from "vitest"
import { asAdmin, inBrowserOf, looks, row, signedIn } from "./InBrowser.ts"
import { expectSoundInBothThemes } from "./Session.ts"

const inBrowser = inBrowserOf("The import is")

/** A batch and some more. */
const count = 130

/** A dump of Kutt's links, and one that cannot be moved. */
const dump = (tag: string) =>
  `address,target,description,created_at,visit_count,password\n${Array.from(
    { length: count },
    (_, n) => `${tag}-${n},https://example.com/${tag}/${n},"Page ${n}, kutt",,${n},\n`
  ).join("")}${tag}-secret,https://example.com/,,,1,$2a$12$hash\n`

describe("the import", () => {
  inBrowser("shows how far it is, and goes on when the page was loaded again", async (session) => {
    const folder = mkdtempSync(join(tmpdir(), "linkmint-import-"))
    try {
      for (const [index, look] of looks.entries()) {
        const tag = `moved${index}`
        const file = join(folder, `${tag}.csv`)
        writeFileSync(file, dump(tag))
        const page = await signedIn(session, "/app/add", look)
        const choose = () => page.locator("input[type=file]").setInputFiles(file)
        await choose()
        await page.getByRole("heading", { name: `Kutt: ${count} links` }).waitFor()
        await page.getByText("1 line will be left out").waitFor()
        await expectSoundInBothThemes(page, `the preview of an import ${look.viewport.width}`)

        // The first batch gets through, the second one is never answered.
        let batches = 0
        let isOver = false
        await page.route("**/api/v1/links/bulk", async (route) => {
          if (isOver || ++batches === 1) await route.continue()
        })
        await page.getByRole("button", { name: `Make ${count} links` }).click()
        const bar = page.getByRole("progressbar")
        await expect.poll(() => bar.getAttribute("value")).toBe("100")
        expect(await bar.getAttribute("max")).toBe(String(count + 1))
        await expectSoundInBothThemes(page, `an import under way ${look.viewport.width}`)
        await page.reload()
        // The route stays: Chromium never answers what a page asks for at the moment in which its last one goes.
        isOver = true

        await page.getByText(`was cut off behind 100 lines of ${count + 1}`).waitFor()
        await expectSoundInBothThemes(page, `an import that was cut off ${look.viewport.width}`)
        await choose()
        await page.getByText("100 lines are done from before").waitFor()
        await page.getByRole("button", { name: "Go on" }).click()
        await page.getByRole("heading", { name: `${count} links made` }).waitFor({ timeout: 60_000 })
        await page.getByText("1 line not made").click()
        await page.getByText("password is not in the file").waitFor()
        await expectSoundInBothThemes(page, `the outcome of an import ${look.viewport.width}`)

        // The list has the order of the file, and the visits of before.
        await page.goto(`${session.base}/app/links?q=example.com/${tag}/`)
        await page.getByText(`${count} links`, { exact: true }).waitFor()
        const keys = () =>
          page.evaluate<ReadonlyArray<string>>(
            `[...document.querySelectorAll("[data-key]")].map((row) => row.dataset.key)`
          )
        await expect.poll(keys).toEqual(Array.from({ length: 25 }, (_, n) => `${tag}-${n}`))
        await row(page, `${tag}-7`).getByText("7 visits").waitFor()
        await row(page, `${tag}-7`).getByRole("link", { name: "statistics of" }).click()
        await page.getByText("7 visits before the link came here").waitFor()
        await expectSoundInBothThemes(page, `the statistics of an imported link ${look.viewport.width}`)

        if (look !== looks[0]) {
          await page.close()
          continue
        }
        // The file again: everything is there, on phones as on desktops.
        await page.goto(`${session.base}/app/add`)
        await page.getByText("Choose a file").waitFor()
        expect(await page.getByText("was cut off").count()).toBe(0)
        await choose()
        await page.getByRole("button", { name: `Make ${count} links` }).click()
        await page.getByRole("heading", { name: "0 links made" }).waitFor({ timeout: 60_000 })
        await page.getByText(`${count} links were here already`).waitFor()
        await page.close()
      }
      const total = await asAdmin(session, "GET", "/api/v1/links?q=example.com/moved&total=true&limit=1")
      expect(await total.json()).toMatchObject({ total: { count: count * looks.length } })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  inBrowser("says in which line a file cannot be read", async (session) => {
    const page = await signedIn(session, "/app/add")
    const take = (text: string) =>
      page
        .locator("input[type=file]")
        .setInputFiles({ name: "x.csv", mimeType: "text/csv", buffer: Buffer.from(text, "latin1") })
    await take('keyword,url\na,https://example.com/\nb,"https://example.com/\n')
    await page.getByText("Line 3: a quoted cell does not end.").waitFor()
    await take("name,age\nx,1\n")
    await page.getByText("Line 1: no column has the URLs of links.").waitFor()
    await take("keyword,url\na,https://example.com/\xe4\n")
    await page.getByText("the text is not UTF-8").waitFor()
    await take("")
    await page.getByText("There is nothing in this file.").waitFor()
    await page.close()
  })
})
