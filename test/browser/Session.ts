// The built program, and a browser that looks at it.

import { Effect, Exit, Scope } from "effect"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import type { AxeResults, RunOptions } from "axe-core"
import type { Browser, BrowserContext, Page } from "playwright-core"
import { expect } from "vitest"
import { migratedFolder, start } from "../e2e/Program.ts"
import { freePort } from "../support/FreePort.ts"
import { exercised } from "../support/services/Exercised.ts"
import { launch } from "./Chromium.ts"

/** A service with its browser, until it is closed. */
export interface Session {
  readonly base: string
  readonly browser: Browser
  readonly adminKey: string
  /** The administrator's first password, which opens nothing but the way to another one, where the start drew one. */
  readonly drawn?: string
  /** The one that is chosen by {@link choosePassword}. */
  readonly password: string
  readonly close: () => Promise<void>
}

/** What the administrator of these tests chooses. */
const ownPassword = "the administrator of these tests"

/** Generous, for a busy machine. */
const wait_ms = 20_000

/** Starts both, the program with these settings. Fails where there is no browser. */
export const open = async (settings: Readonly<Record<string, string>> = {}): Promise<Session> => {
  const scope = await Effect.runPromise(Scope.make())
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  const all = Effect.gen(function* () {
    const browser = yield* Effect.acquireRelease(launch, (browser) => Effect.promise(() => browser.close()))
    const port = yield* freePort
    const program = yield* start({
      PORT: String(port),
      DATA_DIR: settings["DATA_DIR"] ?? (yield* migratedFolder),
      SIGN_UP: "open",
      ...settings
    })
    const [, adminKey] = yield* program.printed(/^Admin key, shown this once: (\S+)$/m)
    const [, drawn] = yield* program.printed(/password shown this once: (\S+)$/m)
    exercised("SQLite")
    return {
      base: `http://localhost:${port}`,
      browser,
      adminKey: adminKey!,
      drawn: drawn!,
      password: ownPassword,
      close
    }
  })
  return Effect.runPromise(Scope.extend(all, scope)).catch(async (error: unknown) => {
    await close()
    throw error
  })
}

/** What the browser complained about, by page. */
const complaints = new WeakMap<Page, Array<string>>()

/** Has nothing in a page move, which would have to be waited for at each change of colours. The page's policy allows no strange `style`. */
const still = `{
  const sheet = new CSSStyleSheet()
  sheet.replaceSync("*, *::before, *::after { animation: none !important; transition: none !important }")
  document.adoptedStyleSheets = [sheet]
}`

/** A browser of its own within the browser: it knows nothing yet. */
export const newContext = async (
  { base, browser }: Session,
  options: Parameters<Browser["newContext"]>[0] = {}
): Promise<BrowserContext> => {
  const context = await browser.newContext({ baseURL: base, ...options })
  await context.addInitScript(still)
  context.setDefaultTimeout(wait_ms)
  return context
}

/** A further page, of which {@link expectSound} knows what the browser complained about. */
export const pageOf = async (context: BrowserContext): Promise<Page> => {
  const page = await context.newPage()
  const heard: Array<string> = []
  complaints.set(page, heard)
  page.on("pageerror", ({ message }) => heard.push(message))
  page.on("console", (message) => {
    // Also what the page's policy forbids. Answers such as 404 and 401 are part of the page's work.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
      heard.push(message.text())
    }
  })
  return page
}

/** A page of a browser that knows nothing yet, at `path`. */
export const newPage = async (
  session: Session,
  path: string,
  options: Parameters<Browser["newContext"]>[0] = {}
): Promise<Page> => {
  const page = await pageOf(await newContext(session, options))
  await page.goto(path)
  return page
}

/** Goes to another place of the web page as its own links do, which does not load it again. */
export const follow = (page: Page, path: string): Promise<void> =>
  page.evaluate(`{
    const link = document.createElement("a")
    link.href = ${JSON.stringify(path)}
    document.body.append(link)
    link.click()
    link.remove()
  }`)

/**
 * Does something that has the page show a text, and waits for that. The page itself looks, at each of its changes: some texts go after seconds, which a busy machine can take between two looks
 * from outside. It has to be another text than those that are there already.
 */
export const expectShown = async (page: Page, text: string, act: () => Promise<unknown>): Promise<void> => {
  const seen = page.evaluate(`new Promise((resolve, reject) => {
    const isThere = () => document.body.outerHTML.includes(${JSON.stringify(text)})
    const observer = new MutationObserver(() => isThere() && end(resolve))
    const end = (how, what) => {
      observer.disconnect()
      clearInterval(timer)
      how(what)
    }
    let left_ms = ${wait_ms}
    const timer = setInterval(() => {
      left_ms -= 1_000
      if (left_ms <= 0) end(reject, new Error(${JSON.stringify(`never shown: ${text}`)}))
    }, 1_000)
    observer.observe(document.body, { attributes: true, characterData: true, childList: true, subtree: true })
  })`)
  await Promise.all([seen, act()])
}

/** Does what has the page ask the service for something at an address that matches, and waits for the answer: until it has asked, the page shows what it showed before. */
export const expectAsked = async (page: Page, asked: RegExp, act: () => Promise<unknown>): Promise<void> => {
  await Promise.all([page.waitForResponse((answer) => asked.test(answer.url())), act()])
}

/**
 * Has all that begins to wait for seconds on the page wait `factor` times as long, until it is loaded again: what is shown for seconds alone stays long enough for a busy machine, and nobody waits for
 * what comes after seconds. How long they are is no test's concern.
 */
export const stretchWaits = (page: Page, factor: number): Promise<void> =>
  page.evaluate(`for (const name of ["setTimeout", "setInterval"]) {
    const set = self[name]
    self[name] = (run, wait_ms, ...rest) => set(run, wait_ms < 2_000 ? wait_ms : wait_ms * ${factor}, ...rest)
  }`)

/** Signs the administrator in, wherever the page asks for it. */
export const signIn = async (page: Page, { password }: Pick<Session, "password">): Promise<void> => {
  await page.getByLabel("E-mail").fill("admin@localhost")
  await page.getByLabel("Password").fill(password)
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.getByRole("button", { name: "Sign out" }).waitFor()
}

/** Signs the administrator in with the password that was drawn, and chooses another one; gives the browser in which they are signed in. */
export const choosePassword = async (session: Session): Promise<BrowserContext> => {
  const { drawn = "", password } = session
  const page = await newPage(session, "/app/sign-in")
  await page.getByLabel("E-mail").fill("admin@localhost")
  await page.getByLabel("Password").fill(drawn)
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.getByRole("heading", { name: "Choose your own password" }).waitFor()
  await page.goto("/app/links")
  await page.getByLabel("Current password").fill(drawn)
  await page.getByLabel("New password").fill(drawn)
  await page.getByRole("button", { name: "Change the password" }).click()
  await page.getByText("must be another one than before").waitFor()
  await page.getByLabel("New password").fill(password)
  await page.getByRole("button", { name: "Change the password" }).click()
  await page.getByRole("heading", { name: "Links", exact: true }).waitFor()
  await page.close()
  return page.context()
}

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

// As text, since these tests' other code knows no document. What runs for longer only counts time down, or waits.
const settled = `document.getAnimations().every(({ playState, effect }) =>
  playState !== "running" || effect.getComputedTiming().endTime > 1000)`
const widths = "[document.documentElement.scrollWidth, innerWidth]"

/** The rules of axe by which a page can be sound in one theme and not in the other: the themes differ in nothing but colours. */
const colourRules: ReadonlyArray<string> = ["color-contrast", "link-in-text-block"]

/** The faults that axe finds, by all its rules or by these, in the whole page or in what matches `within`. Axe does not say what is right, nor where a fault is. */
export const faultsOf = async (
  page: Page,
  { rules, within }: { readonly rules?: ReadonlyArray<string>; readonly within?: string } = {}
): Promise<AxeResults["violations"]> => {
  // As by an extension, since the page's policy allows no strange scripts. Once a document, as it takes long.
  if (await page.evaluate<boolean>("self.axe === undefined")) await page.evaluate(`${axe};0`)
  const where = within === undefined ? "document" : JSON.stringify(within)
  const run = (how: string, runOnly?: ReadonlyArray<string>) => {
    const options: RunOptions = {
      resultTypes: ["violations"],
      selectors: false,
      // The stylesheets would be read again for experimental rules alone.
      preload: { assets: ["media"] },
      ...(runOnly && { runOnly: [...runOnly] })
    }
    return page.evaluate<AxeResults["violations"]>(
      `${how}, axe.run(${where}, ${JSON.stringify(options)}).then(({ violations }) => violations)`
    )
  }
  const faults = await run("axe.configure({ noHtml: true })", rules)
  // Axe writes out each element that it looks at, or none.
  const ids = faults.map(({ id }) => id)
  return ids.length === 0 ? faults : run("axe.reset()", ids)
}

/** What of a page is looked at: by these rules or by all, and in what matches `within` or in the whole. */
type Part = Parameters<typeof faultsOf>[1]

/** That nothing on the page is wider than the window, and the browser has not complained. */
export const expectFits = async (page: Page, name: string): Promise<void> => {
  const [needed, width] = await page.evaluate<[number, number]>(widths)
  expect(needed, `${name} is wider than the window`).toBeLessThanOrEqual(width)
  expect(complaints.get(page), name).toEqual([])
}

/** That the page is right: axe finds no fault, it fits, and the browser has not complained. */
export const expectSound = async (page: Page, name: string, part: Part = {}): Promise<void> => {
  // Colours on their way are no colours to judge.
  await expect.poll(() => page.evaluate(settled), { timeout: wait_ms }).toBe(true)
  const found = await faultsOf(page, part)
  const faults = found.map(
    ({ help, id, nodes }) => `${id}: ${help} (${nodes.map(({ html }) => html).join(" ")})`
  )
  expect(faults, name).toEqual([])
  await expectFits(page, name)
}

/** Whether the page is in its dark theme, where it is the system's. */
const isDark = (page: Page) => page.evaluate<boolean>('matchMedia("(prefers-color-scheme: dark)").matches')

/** From this width on a page is laid out as on desktops, in pixels. */
const desktopMin = 768

/**
 * That the page, or what of it matches `within`, is right in the theme that it is in, and on desktops as right in the colours of the other one, in which it stays. Phones have the same colours:
 * of the rules for small windows, only those of the frame's ways name some, at which the list of links looks in both themes. What is behind a dialog was looked at without it.
 */
export const expectSoundInBothThemes = async (page: Page, name: string, within?: string): Promise<void> => {
  const [theme, other] = (await isDark(page)) ? (["dark", "light"] as const) : (["light", "dark"] as const)
  const part = within === undefined ? {} : { within }
  await expectSound(page, `${name} ${theme}`, part)
  if (page.viewportSize()!.width < desktopMin) return
  await page.emulateMedia({ colorScheme: other })
  await expectSound(page, `${name} ${other}`, { ...part, rules: colourRules })
}

/** The address of the page's icon, which a browser with windows asks for last, and one without does not. */
export const iconOf = (page: Page): Promise<string> =>
  page.evaluate<string>("document.querySelector('link[rel~=icon]').href")
