import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { expectProblem } from "../../support/http/Problems.ts"
import { create, get, startOfTests_ms, TestService, withService } from "../../support/TestService.ts"

const url = "https://example.com/"

const lines = Effect.map(get("/robots.txt"), ({ text }) => text.split("\n"))

withService("robots.txt", {}, (it) => {
  it.effect("lets crawlers follow links that are for them, within a minute, and nothing else", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      const empty = yield* get("/robots.txt")
      expect(empty.headers).toMatchObject({
        "content-type": expect.stringMatching(/^text\/plain/),
        "cache-control": "public, max-age=60"
      })
      expect(empty.text).toBe("User-agent: *\nDisallow: /\n")
      yield* create({ url, alias: "shown", crawlable: true })
      yield* create({ url, alias: "hidden" })
      clock.set(startOfTests_ms + 59_000)
      expect(yield* lines).not.toContain("Allow: /shown$")
      clock.set(startOfTests_ms + 61_000)
      expect(yield* lines).toEqual(["User-agent: *", "Allow: /shown$", "Disallow: /", ""])
    })
  )

  it.effect("says nothing while it cannot know, and is read again at once then", () =>
    Effect.gen(function* () {
      const { clock, setFault } = yield* TestService
      clock.set(startOfTests_ms + 1_000_000)
      yield* setFault("links", "fails")
      expectProblem(yield* get("/robots.txt"), "unavailable")
      yield* setFault("links", "none")
      expect(yield* lines).toContain("Disallow: /")
    })
  )
})
