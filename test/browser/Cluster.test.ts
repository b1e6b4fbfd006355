import { Effect, Exit, Scope } from "effect"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, expect, it } from "vitest"
import { run } from "../e2e/Program.ts"
import { ADMIN_API_KEY, asAdmin, type ClusterNode, freshStores, threeNodes } from "../e2e/ClusterNodes.ts"
import { keyOf } from "../support/http/HttpClient.ts"
import { launch } from "./Chromium.ts"
import { expectSound, newPage, type Session, signIn } from "./Session.ts"

const password = "the password of the cluster's tests"

/** A cluster, and a browser that looks at its first node. */
interface Ground {
  readonly session: Session
  readonly nodes: readonly [ClusterNode, ClusterNode, ClusterNode]
}

const open = async (): Promise<Ground> => {
  const scope = await Effect.runPromise(Scope.make())
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  const all = Effect.gen(function* () {
    const browser = yield* Effect.acquireRelease(launch, (browser) => Effect.promise(() => browser.close()))
    const stores = yield* freshStores
    const nodes = yield* threeNodes(stores)
    const admin = yield* run(
      process.execPath,
      ["dist/admin.js", "set-password", "--email", "admin@localhost", "--password", password],
      stores
    )
    expect((yield* admin.ended).code, admin.output()).toBe(0)
    const base = `http://localhost:${nodes[0].port}`
    return { session: { base, browser, adminKey: ADMIN_API_KEY, password, close }, nodes }
  })
  return Effect.runPromise(Scope.extend(all, scope)).catch(async (error: unknown) => {
    await close()
    throw error
  })
}

/** Without a browser, PostgreSQL or Redis on this machine, and no way to get them, nothing of this can be tested. `CI=true` does not let that pass. */
let ground: Ground | undefined

beforeAll(async () => {
  ground = await open().catch((error: Error) => {
    if (process.env["CI"] === "true") throw error
    process.stderr.write(`The cluster's picture is not tested: ${error.message}\n`)
    return undefined
  })
}, 660_000)
afterAll(() => ground?.session.close())

const actorCount = 16 + 1 + 32

const cardOf = (page: Page, { address }: ClusterNode) => page.locator(`[data-node="${address}"]`)
const stateOf = (page: Page, node: ClusterNode) => cardOf(page, node).getAttribute("data-state")
const tilesOf = (page: Page, node: ClusterNode) => cardOf(page, node).locator(".tile").count()
const owned = (page: Page) => page.locator('[data-state="up"] .tile').count()

/** Generous, for a busy machine. */
const soon = { timeout: 60_000 }

it("an administrator watches a node being killed, its actors move, and the node come back", async ({
  skip
}) => {
  if (ground === undefined) return skip()
  const {
    nodes: [first, second, victim],
    session
  } = ground
  const create = second.send({
    path: "/api/v1/links",
    json: { url: "https://example.com/" },
    headers: asAdmin
  })
  const key = keyOf(await Effect.runPromise(create))
  const page = await newPage(session, "/app/cluster", { viewport: { width: 1280, height: 900 } })
  await signIn(page, session)
  await page.getByRole("heading", { name: "3 nodes" }).waitFor()
  // A page that has seen a node held up for some seconds tells of it for as long as it stands.
  const atFirst = async () => {
    await page.reload()
    await page.getByText("Live", { exact: true }).waitFor()
    await page.locator('[data-state="up"] .tile').first().waitFor()
    return {
      states: await Promise.all([first, second, victim].map((node) => stateOf(page, node))),
      actors: await owned(page),
      nothingHappened: await page.getByText("no node came or went").isVisible()
    }
  }
  const whole = { states: ["up", "up", "up"], actors: actorCount, nothingHappened: true }
  await expect.poll(atFirst, soon).toEqual(whole)
  const before = await tilesOf(page, victim)
  expect(before).toBeGreaterThan(0)
  await page.getByText(/keys of 7 characters are left/).waitFor()
  // The service counts its keys from time to time.
  await page.getByText("Bound to links").waitFor()

  // Those that have moved are marked for 15 s: the page itself counts them.
  await page.evaluate(`{
    self.moved = new Set()
    const note = () => {
      for (const tile of document.querySelectorAll(".tile.fresh")) {
        moved.add(tile.closest("div").querySelector("dt").textContent + tile.textContent)
      }
    }
    new MutationObserver(note).observe(document.body, { attributes: true, childList: true, subtree: true })
  }`)
  await Effect.runPromise(victim.end("SIGKILL"))
  await expect.poll(() => stateOf(page, victim), soon).toBe("silent")
  await cardOf(page, victim)
    .getByText(/^Silent for/)
    .waitFor()
  await expect.poll(() => owned(page), soon).toBe(actorCount)
  await expect.poll(() => tilesOf(page, victim)).toBe(0)
  await expect.poll(() => page.evaluate<number>("moved.size")).toBeGreaterThanOrEqual(before)
  const log = page.getByRole("log")
  await log.getByText(`${victim.address} does not answer`).waitFor()
  await log.getByText(`moved from ${victim.address} to`).first().waitFor()
  expect((await Effect.runPromise(first.send({ path: `/${key}` }))).status).toBe(302)
  await expectSound(page, "a failover 1280 light")

  await page.setViewportSize({ width: 390, height: 844 })
  await page.emulateMedia({ colorScheme: "dark" })
  await Effect.runPromise(first.end("SIGKILL"))
  await page.getByText(/^Reconnecting/).waitFor(soon)
  await expectSound(page, "a picture that is not live 390 dark")
  await Effect.runPromise(first.restart())
  await page.getByText("Live", { exact: true }).waitFor(soon)
  await log.getByText(`${first.address} has started again`).waitFor()
  await page.context().close()
}, 180_000)
