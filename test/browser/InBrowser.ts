// Tests in the browser, against one service that all tests of a file share.

import type { BrowserContext, Page } from "playwright-core"
import { afterAll, beforeAll, expect, it } from "vitest"
import { newContext, open, pageOf, type Session } from "./Session.ts"

/** How each place is gone through: on desktops and phones, in one theme each. What is seen there is looked at in both, by `expectSoundInBothThemes`. */
export const looks = [
  { viewport: { width: 1280, height: 860 }, colorScheme: "light" },
  { viewport: { width: 390, height: 844 }, colorScheme: "dark" }
] as const

/** See {@link looks}. */
export type Look = (typeof looks)[number]

/** A look's name in titles. */
export const nameOf = ({ colorScheme, viewport }: Look): string => `${viewport.width} ${colorScheme}`

/** The administrator's browser within the browser. */
interface Administrator {
  readonly context: BrowserContext
  /** A document of the service that shows nothing, by which one comes to what pages keep. */
  readonly home: Page
}

/** One for all tests of a session: only so many sign-ins are allowed in a minute, and what one page has loaded and compiled the next ones have. */
const administrators = new WeakMap<Session, Administrator>()

/** Has pages know that somebody is signed in, and nothing else of what earlier ones kept. */
const forgetAll = (home: Page): Promise<void> =>
  home.evaluate(`localStorage.clear(); localStorage.setItem("linkmint.signedIn", "true")`)

const meet = async (session: Session, context: BrowserContext): Promise<void> => {
  const home = await context.newPage()
  await home.goto("/robots.txt")
  administrators.set(session, { context, home })
  await forgetAll(home)
}

const asPage = { headers: { "sec-fetch-site": "same-origin" } }

/** Signs the administrator in with the password that was drawn, and chooses another one, by the API; gives the browser in which they are signed in. */
const setPassword = async (session: Session): Promise<BrowserContext> => {
  const { drawn, password } = session
  const context = await newContext(session)
  const signedIn = await context.request.post("/api/v1/session", {
    ...asPage,
    data: { email: "admin@localhost", password: drawn }
  })
  expect(signedIn.status()).toBe(204)
  const changed = await context.request.put("/api/v1/me/password", {
    ...asPage,
    data: { currentPassword: drawn, password }
  })
  expect(changed.status()).toBe(204)
  return context
}

/**
 * Starts the service for the tests of a file, and gives what declares a test. Without a browser on this machine, and no way to get one, nothing of this can be
 * tested. `CI=true` does not let that pass. `begin` chooses the administrator's password, and gives the browser in which they are signed in.
 */
export const inBrowserOf = (
  what: string,
  settings: Readonly<Record<string, string>> = {},
  begin: (session: Session) => Promise<BrowserContext> = setPassword
) => {
  let session: Session | undefined
  beforeAll(async () => {
    session = await open(settings).catch((error: Error) => {
      if (process.env["CI"] === "true") throw error
      process.stderr.write(`${what} not tested: ${error.message}\n`)
      return undefined
    })
    if (session !== undefined) await meet(session, await begin(session))
  }, 660_000)
  afterAll(() => session?.close())
  return (title: string, test: (session: Session) => Promise<void>) =>
    it(title, async ({ skip }) => (session === undefined ? skip() : test(session)), 120_000)
}

/** Calls the API as the administrator. */
export const asAdmin = ({ adminKey, base }: Session, method: string, path: string, body?: object) =>
  fetch(`${base}${path}`, {
    method,
    headers: { "x-api-key": adminKey, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) })
  })

/** Creates a link of the administrator's. */
export const create = async (session: Session, body: object): Promise<void> => {
  expect((await asAdmin(session, "POST", "/api/v1/links", body)).status).toBe(201)
}

/** Creates many at once, of which all must be made. */
export const createMany = async (session: Session, links: ReadonlyArray<object>): Promise<void> => {
  const answer = await asAdmin(session, "POST", "/api/v1/links/bulk", { links })
  expect(answer.status).toBe(200)
  const { results } = (await answer.json()) as {
    readonly results: ReadonlyArray<{ readonly status: number }>
  }
  expect(new Set(results.map(({ status }) => status))).toEqual(new Set([201]))
}

/** Waits until the first visit of a link is counted: within a second or so. */
export const visitCounted = async (session: Session, key: string): Promise<void> => {
  const counted = async () => {
    const answer = await asAdmin(session, "GET", `/api/v1/links/${key}/stats`)
    return ((await answer.json()) as { readonly total: number }).total
  }
  await expect.poll(counted).toBe(1)
}

/** Waits until the page has drawn a QR code: its canvas comes before the picture. */
export const qrDrawn = async (page: Page): Promise<void> => {
  const width = () => page.evaluate<number>(`document.querySelector(".qr canvas")?.width ?? 0`)
  // An empty canvas has 300 pixels.
  await expect.poll(width).toBeGreaterThan(300)
}

/** The row of a link in the list. */
export const row = (page: Page, key: string) => page.locator(`[data-key="${key}"]`)

/** How a page is looked at: as {@link looks} does, or otherwise. */
interface Appearance {
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: Look["colorScheme"]
}

const administratorOf = (session: Session): Administrator => administrators.get(session)!

/** A page of the administrator, signed in, at a path. It knows nothing of what earlier pages kept. */
export const signedIn = async (
  session: Session,
  path: string,
  { colorScheme, viewport }: Appearance = {}
): Promise<Page> => {
  const { context, home } = administratorOf(session)
  await forgetAll(home)
  const page = await pageOf(context)
  if (viewport !== undefined) await page.setViewportSize(viewport)
  if (colorScheme !== undefined) await page.emulateMedia({ colorScheme })
  await page.goto(path)
  await page.getByRole("button", { name: "Sign out" }).waitFor()
  return page
}

/** What the administrator's browser keeps, for another one in which they are signed in, too. */
export const stateOf = (session: Session) => administratorOf(session).context.storageState()
