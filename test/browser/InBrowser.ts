// Tests in the browser, against one service that all tests of a file share.

import type { Page } from "playwright-core"
import { afterAll, beforeAll, expect, it } from "vitest"
import { newPage, open, type Session, signIn } from "./Session.ts"

/** How each place is gone through: on desktops and phones, in one theme each. What is seen there is looked at in both, by `expectSoundInBothThemes`. */
export const looks = [
  { viewport: { width: 1280, height: 860 }, colorScheme: "light" },
  { viewport: { width: 390, height: 844 }, colorScheme: "dark" }
] as const

/** See {@link looks}. */
export type Look = (typeof looks)[number]

/** A look's name in titles. */
export const nameOf = ({ colorScheme, viewport }: Look): string => `${viewport.width} ${colorScheme}`

/** Chooses another password for the administrator than the one that was drawn, by the API. */
const setPassword = async (session: Session): Promise<void> => {
  const { base, browser, drawn, password } = session
  const context = await browser.newContext({
    baseURL: base,
    extraHTTPHeaders: { "sec-fetch-site": "same-origin" }
  })
  const signedIn = await context.request.post("/api/v1/session", {
    data: { email: "admin@localhost", password: drawn }
  })
  expect(signedIn.status()).toBe(204)
  const changed = await context.request.put("/api/v1/me/password", {
    data: { currentPassword: drawn, password }
  })
  expect(changed.status()).toBe(204)
  await context.close()
}

/**
 * Starts the service for the tests of a file, and gives what declares a test. Without a browser on this machine, and no way to get one, nothing of this can be
 * tested. `CI=true` does not let that pass. `begin` chooses the administrator's password.
 */
export const inBrowserOf = (
  what: string,
  settings: Readonly<Record<string, string>> = {},
  begin: (session: Session) => Promise<void> = setPassword
) => {
  let session: Session | undefined
  beforeAll(async () => {
    session = await open(settings).catch((error: Error) => {
      if (process.env["CI"] === "true") throw error
      process.stderr.write(`${what} not tested: ${error.message}\n`)
      return undefined
    })
    if (session !== undefined) await begin(session)
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

/** The row of a link in the list. */
export const row = (page: Page, key: string) => page.locator(`[data-key="${key}"]`)

type StorageState = Awaited<ReturnType<ReturnType<Page["context"]>["storageState"]>>

/** What a browser keeps of the administrator's sign-in, which is one for all tests: only so many are allowed in a minute. */
const kept = new WeakMap<Session, StorageState>()

/** A page of the administrator, signed in, at a path. */
export const signedIn = async (
  session: Session,
  path: string,
  options: Parameters<typeof newPage>[2] = {}
): Promise<Page> => {
  const storageState = kept.get(session)
  const page = await newPage(session, path, { ...options, ...(storageState && { storageState }) })
  if (storageState === undefined) {
    await signIn(page, session)
    kept.set(session, await page.context().storageState())
  } else await page.getByRole("button", { name: "Sign out" }).waitFor()
  return page
}
