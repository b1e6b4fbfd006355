import { describe, expect } from "vitest"
import { create, inBrowserOf, looks, nameOf, row, signedIn } from "./InBrowser.ts"
import { expectSound, newPage } from "./Session.ts"

const inBrowser = inBrowserOf("The builder of UTM parameters is")

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
      await expectSound(page, `UTM parameters, ${nameOf(look)}`)
      await page.getByRole("button", { name: "Shorten", exact: true }).click()
      const shortUrl = await page.getByTestId("short-url").getAttribute("href")
      const { headers } = await fetch(shortUrl!, { redirect: "manual" })
      expect(headers.get("location")).toBe(`https://${built}`)

      await page.reload()
      await page.getByText(campaign).click()
      await page.getByLabel("Long URL").fill("https://other.example/?utm_campaign=autumn")
      expect(await page.getByLabel("Campaign", { exact: true }).inputValue()).toBe("autumn")
      await page.getByLabel("Template", { exact: true }).selectOption("Letters")
      // What the template leaves open is left out.
      await page
        .getByText("https://other.example/?utm_source=news+letter&utm_medium=email", { exact: true })
        .waitFor()
      await page.getByRole("button", { name: "Forget the template Letters" }).click()
      expect(await page.getByLabel("Template", { exact: true }).locator("option").allTextContents()).toEqual([
        "None yet"
      ])
      await page.context().close()
    })
  }

  inBrowser("of a link are changed where it is edited", async (session) => {
    await create(session, { url: "https://example.com/?utm_source=old&x=%20", alias: "campaigning" })
    const page = await signedIn(session, "/app/links?q=campaigning", looks[2])
    await row(page, "campaigning").getByRole("button", { name: "Edit campaigning" }).click()
    await page.getByText(campaign).click()
    expect(await page.getByLabel("Source").inputValue()).toBe("old")
    await page.getByLabel("Source").fill("new")
    await page.getByRole("button", { name: "Cancel" }).click()
    await page.getByText("Your changes are not saved.").waitFor()
    await page.getByRole("button", { name: "Keep editing" }).click()
    await expectSound(page, "UTM parameters of an edited link")
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByRole("dialog").waitFor({ state: "detached" })
    const { headers } = await fetch(`${session.base}/campaigning`, { redirect: "manual" })
    expect(headers.get("location")).toBe("https://example.com/?x=%20&utm_source=new")
    await page.context().close()
  })
})
