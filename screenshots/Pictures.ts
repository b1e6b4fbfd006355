// What is photographed: places of the page, and how to get there.

import type { Page } from "playwright-core"
import * as Sample from "./Sample.ts"

/** One place, as it is to be seen. */
export interface Picture {
  readonly name: string
  /** Brings a page there, whose browser is signed in where `isSignedIn`. */
  readonly show: (page: Page) => Promise<void>
  readonly isSignedIn: boolean
}

const opened =
  (path: string, sign: string): Picture["show"] =>
  async (page) => {
    await page.goto(path)
    await page.locator(sign).first().waitFor()
  }

/** All that there is to see. */
export const pictures: ReadonlyArray<Picture> = [
  {
    name: "shorten",
    isSignedIn: false,
    show: async (page) => {
      await page.goto("/")
      await page.getByLabel("Long URL").fill("https://example.com/a/page/with/a/long/address?and=a&query=too")
      await page.getByRole("button", { name: "Shorten", exact: true }).click()
      await page.getByRole("img", { name: "QR code of" }).waitFor()
    }
  },
  {
    name: "choices",
    isSignedIn: false,
    show: async (page) => {
      await page.goto("/")
      await page.getByText("Alias, end, password, limits").click()
      await page.getByLabel("Alias").fill("summer-party")
      await page.getByText("Free.").waitFor()
    }
  },
  { name: "no-such-link", isSignedIn: false, show: opened("/nothing-here", "main h1") },
  { name: "password", isSignedIn: false, show: opened(`/${Sample.guarded}`, "form") },
  { name: "preview", isSignedIn: false, show: opened(`/${Sample.shown}+`, "dl") },
  { name: "sign-in", isSignedIn: false, show: opened("/app/sign-in", "form") },
  { name: "links", isSignedIn: true, show: opened("/app/links", "[data-key]") },
  { name: "statistics", isSignedIn: true, show: opened(`/app/links/${Sample.shown}/stats`, ".uplot") },
  { name: "import", isSignedIn: true, show: opened("/app/add", "input[type=file]") },
  { name: "keys", isSignedIn: true, show: opened("/app/keys", "main h1") }
]

/** How a page is looked at. */
export const looks = [
  { name: "1280-light", viewport: { width: 1_280, height: 860 }, colorScheme: "light" },
  { name: "1280-dark", viewport: { width: 1_280, height: 860 }, colorScheme: "dark" },
  { name: "390-light", viewport: { width: 390, height: 844 }, colorScheme: "light" },
  { name: "390-dark", viewport: { width: 390, height: 844 }, colorScheme: "dark" }
] as const
