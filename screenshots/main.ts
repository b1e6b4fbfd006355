// `npm run screenshots`: pictures of the web page, from the running program.

import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, Logger, LogLevel } from "effect"
import { mkdirSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Browser, BrowserContext } from "playwright-core"
import * as Nodes from "../cluster/Nodes.ts"
import { inRepository } from "../cluster/Repository.ts"
import * as Progress from "../src/terminal/Progress.ts"
import * as SqliteClient from "../src/storage/sql/SqliteClient.ts"
import { launch } from "../test/browser/Chromium.ts"
import { freePort } from "../test/support/FreePort.ts"
import { keep } from "../test/support/services/Keeper.ts"
import { Unavailable } from "../test/support/services/Service.ts"
import { looks, type Picture, pictures } from "./Pictures.ts"
import * as Sample from "./Sample.ts"

const adminKey = "lm_the-administrator-of-the-pictures"

/** Where the pictures are put. */
const album = inRepository("docs/screenshots")

type Look = (typeof looks)[number]

const attempt = <A>(what: string, body: () => Promise<A>) =>
  Effect.tryPromise({
    try: body,
    catch: (error) => new Unavailable({ reason: `${what}: ${String(error)}` })
  })

const signIn = async (context: BrowserContext) => {
  const page = await context.newPage()
  await page.goto("/app/sign-in")
  await page.getByLabel("E-mail").fill(Sample.user.email)
  await page.getByLabel("Password").fill(Sample.user.password)
  await page.getByRole("button", { name: "Sign in" }).click()
  await page.getByRole("button", { name: "Sign out" }).waitFor()
  await page.close()
}

const take = async (context: BrowserContext, { name, show }: Picture, look: Look) => {
  const page = await context.newPage()
  await show(page)
  await page.waitForLoadState("networkidle")
  await page.screenshot({ path: join(album, `${name}-${look.name}.png`), animations: "disabled" })
  await page.close()
}

/** All pictures in one look, those of a newcomer first. */
const takeAll = async (browser: Browser, baseURL: string, look: Look, taken: () => void) => {
  const context = await browser.newContext({ ...look, baseURL, locale: "en-GB" })
  const [before, after] = [false, true].map((isSignedIn) =>
    pictures.filter((picture) => picture.isSignedIn === isSignedIn)
  )
  const takeSome = async (some: ReadonlyArray<Picture>) => {
    for (const picture of some) {
      await take(context, picture, look)
      taken()
    }
  }
  await takeSome(before!)
  await signIn(context)
  await takeSome(after!)
  await context.close()
}

const run = Effect.gen(function* () {
  const browser = yield* Effect.acquireRelease(launch, (opened) => Effect.promise(() => opened.close()))
  const folder = mkdtempSync(join(tmpdir(), "linkmint-screenshots-"))
  yield* keep({ commands: [], signal: "TERM", cleanup: ["rm", "-rf", folder] })
  const [port, runnerPort] = [yield* freePort, yield* freePort]
  const program = Nodes.start({
    name: "Linkmint",
    folder: join(folder, "program"),
    role: "all",
    port,
    runnerPort,
    shared: {
      ADMIN_API_KEY: adminKey,
      BASE_URL: "https://lnk.example",
      ANONYMOUS_CREATES: "true",
      DATA_DIR: join(folder, "data"),
      DATABASE_URL: "",
      REDIS_URLS: "",
      PROCESSES: ""
    }
  })
  const base = `http://localhost:${port}`
  yield* Effect.scoped(Effect.zipRight(program, Sample.makeLinks(base, adminKey)))
  yield* Sample.addVisits(SqliteClient.layer(join(folder, "data/linkmint.db")))
  yield* program
  mkdirSync(album, { recursive: true })
  const progress = yield* Progress.make({
    all: pictures.length * looks.length,
    unit: "pictures",
    hasRate: false
  })
  let count = 0
  for (const look of looks) {
    const taken = () => progress.update(++count)
    yield* attempt(`a picture failed, ${look.name}`, () => takeAll(browser, base, look, taken))
  }
  return count
})

NodeRuntime.runMain(
  Effect.scoped(run).pipe(
    Effect.flatMap((count) => Console.log(`${count} pictures are in ${album}.`)),
    Effect.tapError((error) => Console.error(`No pictures. ${error.message}`)),
    Logger.withMinimumLogLevel(LogLevel.None)
  ),
  { disableErrorReporting: true }
)
