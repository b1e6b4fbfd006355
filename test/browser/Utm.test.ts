import { describe, expect } from "vitest"
import { asAdmin, create, inBrowserOf, looks, nameOf, row, signedIn } from "./InBrowser.ts"
import { expectSound, expectSoundInBothThemes, follow, newPage } from "./Session.ts"

const inBrowser = inBrowserOf("The builder of UTM parameters, and what few links have, is")

const campaign = "Campaign (UTM parameters)"

describe("the parameters of a campaign", () => {
  for (const look of looks) {
    inBrowser(`are built into a new link's URL, and kept as a template, ${nameOf(look)}`, async (session) => {
      const page = await newPage(session, "/", look)
      await page.getByText(campaign).click()
      await page.getByLabel("Source").fill("news letter")
      await page.getByLabel("Medium").fill("email")
      await page.getByLabel("Keep these values as").fill("Letters")
      await page.getByRole("button", { name: "Keep", exact: true }).click()
      await page.getByLabel("Campaign", { exact: true }).fill("spring")
      await page.getByLabel("Long URL").fill("shop.example/?size=%2f9&utm_medium=old#reviews")
      const built =
        "shop.example/?size=%2f9&utm_source=news+letter&utm_medium=email&utm_campaign=spring#reviews"
      await page.getByText(built).waitFor()
      await expectSoundInBothThemes(page, `UTM parameters, ${look.viewport.width}`)
      await page.getByRole("button", { name: "Shorten", exact: true }).click()
      const shortUrl = await page.getByTestId("short-url").getAttribute("href")
      const { headers } = await fetch(shortUrl!, { redirect: "manual" })
      expect(headers.get("location")).toBe(`https://${built}`)

      await page.reload()
      await page.getByText(campaign).click()
      await page.getByLabel("Long URL").fill("https://other.example/?utm_campaign=autumn")
      await expect.poll(() => page.getByLabel("Campaign", { exact: true }).inputValue()).toBe("autumn")
      await page.getByLabel("Template", { exact: true }).selectOption("Letters")
      // What the template leaves open is left out.
      await page
        .getByText("https://other.example/?utm_source=news+letter&utm_medium=email", { exact: true })
        .waitFor()
      await page.getByRole("button", { name: "Forget the template Letters" }).click()
      const options = page.getByLabel("Template", { exact: true }).locator("option")
      await expect.poll(() => options.allTextContents()).toEqual(["None yet"])
      await page.context().close()
    })
  }

  inBrowser("of a link are changed where it is edited", async (session) => {
    await create(session, { url: "https://example.com/?utm_source=old&x=%20", alias: "campaigning" })
    const page = await signedIn(session, "/app/links?q=campaigning", looks[1])
    await row(page, "campaigning").getByRole("button", { name: "Edit campaigning" }).click()
    await page.getByText(campaign).click()
    expect(await page.getByLabel("Source").inputValue()).toBe("old")
    await page.getByLabel("Source").fill("new")
    await page.getByRole("button", { name: "Cancel" }).click()
    await page.getByText("Your changes are not saved.").waitFor()
    await page.getByRole("button", { name: "Keep editing" }).click()
    await expectSound(page, "UTM parameters of an edited link", { within: "dialog" })
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByRole("dialog").waitFor({ state: "detached" })
    const { headers } = await fetch(`${session.base}/campaigning`, { redirect: "manual" })
    expect(headers.get("location")).toBe("https://example.com/?x=%20&utm_source=new")
    await page.close()
  })
})

describe("what few links have", () => {
  const more = "Note, paths, preview card, statistics, after its end"
  for (const look of looks) {
    inBrowser(`is chosen for a new link, changed, and shown with it, ${nameOf(look)}`, async (session) => {
      const alias = `extras-${nameOf(look).replace(" ", "-")}`
      const page = await signedIn(session, "/", look)
      await page.getByText(more).click()
      await page.getByLabel("After its end").fill("ftp://nowhere")
      await page.getByLabel("Note", { exact: true }).fill("Ask Ada\nbefore May")
      await page.getByLabel("Headline").fill("Launch & more")
      await page.getByLabel("Append the path behind the short link").check()
      await page.getByLabel("Pass the short link's query on").check()
      await page.getByLabel("Let anybody see its statistics").check()
      await page.getByLabel("Same parameter in both").selectOption("The short link's stays")
      await page.getByText("Alias, end, password, limits").click()
      await page.getByLabel("Alias").fill(alias)
      await page.getByLabel("Long URL").fill("example.com/docs?v=1")
      await page.getByRole("button", { name: "Shorten", exact: true }).click()
      await page.locator("p.fault").first().waitFor()
      expect(await page.getByLabel("After its end").getAttribute("aria-invalid")).toBe("true")
      await expectSoundInBothThemes(page, `extras of a new link, ${look.viewport.width}`)
      await page.getByLabel("After its end").fill("example.com/over")
      await page.getByRole("button", { name: "Shorten", exact: true }).click()
      await page.getByTestId("short-url").waitFor()
      const shown = async () =>
        (await (await asAdmin(session, "GET", `/api/v1/links/${alias}`)).json()) as object
      expect(await shown()).toMatchObject({
        expiredUrl: "https://example.com/over",
        card: { title: "Launch & more" },
        note: "Ask Ada\nbefore May",
        forwardPath: true,
        forwardQuery: true,
        queryPrecedence: "request",
        publicStats: true
      })

      await follow(page, `/app/links?q=${alias}`)
      await row(page, alias)
        .getByRole("button", { name: `Edit ${alias}` })
        .click()
      const dialog = page.getByRole("dialog")
      await dialog.getByText(more).click()
      expect(await dialog.getByLabel("After its end").inputValue()).toBe("https://example.com/over")
      await dialog.getByLabel("After its end").fill("")
      await dialog.getByLabel("Note", { exact: true }).fill("Ask Bob")
      await dialog.getByLabel("Summary").fill("For everybody")
      await expectSoundInBothThemes(page, `extras of an edited link, ${look.viewport.width}`, "dialog")
      await dialog.getByRole("button", { name: "Save" }).click()
      await dialog.waitFor({ state: "detached" })
      const after = await shown()
      expect(after).not.toHaveProperty("expiredUrl")
      expect(after).toMatchObject({
        card: { title: "Launch & more", description: "For everybody" },
        note: "Ask Bob",
        forwardPath: true,
        queryPrecedence: "request"
      })
      await row(page, alias).getByRole("link", { name: "statistics of" }).click()
      await page.getByText("Card: Launch & more · For everybody").waitFor()
      await page.getByText("Note: Ask Bob").waitFor()
      await page.getByText("Path: appended").waitFor()
      await page.getByText("No visits in the last 30 days").waitFor()
      await expectSoundInBothThemes(page, `extras with a link's statistics, ${look.viewport.width}`)
      await page.close()
    })
  }
})
