import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect } from "vitest"
import { asAdmin, create, inBrowserOf, looks, signedIn } from "./InBrowser.ts"
import { expectShown, expectSoundInBothThemes, stretchWaits } from "./Session.ts"

const inBrowser = inBrowserOf("The page of webhooks is", { ALLOW_PRIVATE_WEBHOOKS: "true" })

/** A receiver that answers challenges once it `answers`, and remembers of which links it was told. */
const receiver = async () => {
  const state = { answers: false, told: [] as Array<string> }
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk))
    request.on("end", () => {
      const { data, type } = JSON.parse(body) as { type: string; data: { challenge: string; key: string } }
      if (!state.answers) response.writeHead(500).end()
      else if (type === "webhook.verification") response.end(data.challenge)
      else {
        state.told.push(data.key)
        response.end()
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { ...(server.address() as AddressInfo), state, close }
}

const letter = (n: number) => ({
  id: `msg_${n}`,
  event: "link.created",
  events: n === 1 ? 3 : 1,
  queuedAt: "2026-11-20T10:00:00.000Z",
  failedAt: "2026-11-21T11:00:00.000Z",
  attempts: 15,
  reason: "The receiver answered 500."
})

describe("the page of webhooks", () => {
  inBrowser("makes a webhook, shows its secret once and how it goes, and removes it", async (session) => {
    const { close, port, state } = await receiver()
    const page = await signedIn(session, "/app/keys")
    // It asks how deliveries go every 3 s.
    await stretchWaits(page, 0.1)
    await page
      .getByRole("navigation", { name: "For programs" })
      .getByRole("link", { name: "Webhooks" })
      .click()
    await page.getByRole("heading", { name: "No webhooks yet" }).waitFor()
    await page.getByRole("button", { name: "New webhook" }).click()
    const dialog = page.getByRole("dialog")
    const make = dialog.getByRole("button", { name: "Make the webhook" })
    expect(await make.isDisabled()).toBe(true)
    await dialog.getByLabel("Its address").fill("ftp://example.com/")
    await make.click()
    await dialog.locator(".fault").waitFor()
    await dialog.getByLabel("Its address").fill(`http://127.0.0.1:${port}/hook`)
    await make.click()
    const secret = await dialog.locator(".secret code").textContent()
    expect(secret).toMatch(/^whsec_/)
    await dialog.getByRole("button", { name: "I have kept it" }).click()
    await page.getByText("Has not answered its challenge").waitFor()
    await page.getByText("failed since the last that did not").waitFor()
    state.answers = true
    await page.getByRole("button", { name: "Challenge again: 127.0.0.1" }).click()
    await page.getByText("Active", { exact: true }).waitFor()
    expect(await page.content()).not.toContain(secret)
    await create(session, { url: "https://example.com/", alias: "told-of" })
    await expect.poll(() => state.told).toContain("told-of")
    await page.getByRole("button", { name: /^Remove 127/ }).click()
    await page.getByRole("button", { name: "Remove", exact: true }).click()
    await page.getByRole("heading", { name: "No webhooks yet" }).waitFor()
    await page.close()
    close()
  })

  inBrowser("shows dead letters page by page, and sends them again", async (session) => {
    const body = { url: "http://127.0.0.1:9/", events: ["link.created", "link.visited"] }
    expect((await asAdmin(session, "POST", "/api/v1/webhooks", body)).status).toBe(201)
    for (const look of looks) {
      const page = await signedIn(session, "/app/webhooks", look)
      const sent: Array<string> = []
      // It takes a day until a message is given up.
      await page.route("**/dead-letters?*", (route) => {
        const isSecond = new URL(route.request().url()).searchParams.get("cursor") === "next"
        const json = isSecond
          ? { data: [letter(3)], nextCursor: null }
          : { data: [letter(1), letter(2)], nextCursor: "next" }
        return route.fulfill({ json })
      })
      await page.route("**/dead-letters/*/retry", (route) => {
        sent.push(route.request().url().split("/").at(-2)!)
        return route.fulfill({ status: 202 })
      })
      await page.getByText("Nothing waits").waitFor()
      await expectSoundInBothThemes(page, `webhooks ${look.viewport.width}`)
      await page.getByRole("button", { name: "New webhook" }).click()
      await expectSoundInBothThemes(page, `a new webhook ${look.viewport.width}`, "dialog")
      await page.keyboard.press("Escape")
      await page.getByRole("link", { name: "0 dead letters of 127.0.0.1:9" }).click()
      await page.getByText("3 events").waitFor()
      await expectSoundInBothThemes(page, `dead letters ${look.viewport.width}`)
      const again = page.getByRole("button", { name: "Send again: msg_2" })
      await expectShown(page, "It is queued again.", () => again.click())
      expect(sent).toEqual(["msg_2"])
      await page.getByText("msg_2").waitFor({ state: "detached" })
      await page.getByRole("button", { name: "Further" }).click()
      await page.getByText("msg_3").waitFor()
      await page.waitForURL(({ search }) => search === "?cursor=next")
      await page.goBack()
      await page.getByText("msg_1").waitFor()
      await page.close()
    }
  })
})
