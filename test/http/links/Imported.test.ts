import { expect } from "@effect/vitest"
import { Effect } from "effect"
import type { VisitStore } from "../../../src/storage/visits/VisitStore.ts"
import { subjectOfLink } from "../../../src/model/Visit.ts"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { refuses } from "../../support/http/Problems.ts"
import {
  adminKey,
  asAdmin,
  create,
  get,
  startOfTests_ms,
  TestService,
  userKeys,
  withKey,
  withService
} from "../../support/TestService.ts"

const url = "https://example.com/moved"
const json = { "x-api-key": adminKey }

interface Page {
  readonly data: ReadonlyArray<{ readonly key: string; readonly url: string; readonly createdAt: string }>
}

const visit = ({ write }: typeof VisitStore.Service, key: string, createdAt: string, hour: number) =>
  write({
    writer: "test",
    sequence: 1,
    at: startOfTests_ms,
    hours: [
      {
        subject: subjectOfLink({ key, createdAt: Date.parse(createdAt) }),
        hour,
        nonBots: 2,
        bots: 1,
        values: []
      }
    ]
  })

withService("a link that existed elsewhere", {}, (it) => {
  it.effect("keeps its dates, its visits and what is left of them", () =>
    Effect.gen(function* () {
      const imported = {
        createdAt: "2019-05-06T07:08:09.010Z",
        updatedAt: "2021-01-01T00:00:00.000Z",
        visits: 12_345,
        bots: 45,
        visitsLeft: 3
      }
      const created = yield* create({ url, alias: "moved-here", maxVisits: 20, imported }, json)
      expect(created.status).toBe(201)
      const shown = {
        createdAt: imported.createdAt,
        updatedAt: imported.updatedAt,
        maxVisits: 20,
        visitsLeft: 3,
        visits: { total: 0, nonBots: 0, bots: 0 },
        importedVisits: { total: 12_345, nonBots: 12_300, bots: 45 }
      }
      expect(jsonOf(created)).toMatchObject(shown)
      expect(jsonOf(yield* asAdmin("GET", "/api/v1/links/moved-here"))).toMatchObject(shown)
      for (const status of [302, 302, 302, 410]) expect((yield* get("/moved-here")).status).toBe(status)
    })
  )

  it.effect("has them apart in its statistics, and added in its preview", () =>
    Effect.gen(function* () {
      const createdAt = "2020-01-01T00:00:00.000Z"
      yield* create({ url, alias: "added-up", imported: { createdAt, visits: 40, bots: 4 } }, json)
      const { visits } = yield* TestService
      yield* visit(visits, "added-up", createdAt, startOfTests_ms / 3_600_000 - 1)
      expect(jsonOf(yield* asAdmin("GET", "/api/v1/links/added-up/stats"))).toMatchObject({
        total: 3,
        imported: { total: 40, nonBots: 36, bots: 4 }
      })
      expect(jsonOf(yield* get("/added-up+"))).toMatchObject({ visits: 43, createdAt })
      yield* create({ url, alias: "not-moved" }, json)
      expect(jsonOf(yield* asAdmin("GET", "/api/v1/links/not-moved/stats"))).not.toHaveProperty("imported")
      expect(jsonOf(yield* asAdmin("GET", "/api/v1/links/not-moved"))).not.toHaveProperty("importedVisits")
    })
  )

  it.effect("may have expired: its key answers 410, and is bound", () =>
    Effect.gen(function* () {
      const expiresAt = "2020-02-02T00:00:00.000Z"
      const created = yield* create({ url, alias: "long-over", expiresAt, imported: {} }, json)
      expect(created.status).toBe(201)
      expect(jsonOf(created)).toMatchObject({ expiresAt })
      expect((yield* get("/long-over")).status).toBe(410)
      expect((yield* create({ url, alias: "long-over" }, json)).status).toBe(409)
    })
  )

  const later = "2026-11-21T10:00:00.001Z"
  const faults = [
    [{ imported: { createdAt: later } }, "imported.createdAt", /cannot lie in the future/],
    [{ imported: { createdAt: "1969-12-31T23:59:59Z" } }, "imported.createdAt", /nor before 1970/],
    [{ imported: { createdAt: "yesterday" } }, "imported.createdAt", /RFC 3339/],
    [{ imported: { updatedAt: later } }, "imported.updatedAt", /cannot lie in the future/],
    [
      { imported: { createdAt: "2020-01-02T00:00:00Z", updatedAt: "2020-01-01T00:00:00Z" } },
      "imported.updatedAt",
      /nor before createdAt/
    ],
    [{ imported: { visits: 1, bots: 2 } }, "imported.bots", /more than the visits/],
    [{ imported: { visits: -1 } }, "imported.visits", /whole number from 0/],
    [{ imported: { visitsLeft: 1 } }, "imported.visitsLeft", /more than maxVisits/],
    [{ maxVisits: 5, imported: { visitsLeft: 6 } }, "imported.visitsLeft", /more than maxVisits/],
    [{ imported: { clicks: 1 } }, "imported.clicks", /not a known field/],
    [{ imported: 1 }, "imported", /must be an object/],
    [{ imported: {}, expiresAt: "0000-01-01T00:00:00+05:00" }, "expiresAt", /years 0 to 9999 of UTC/]
  ] as const
  for (const [said, path, message] of faults) {
    it.effect(`cannot say ${JSON.stringify(said)}`, () =>
      refuses(create({ url, ...said }, json), "invalid-request", [path, message])
    )
  }

  it.effect("is for users alone", () =>
    refuses(create({ url, imported: {} }), "forbidden", ["imported", /for users alone/])
  )
})

withService("a bulk", {}, (it) => {
  it.effect("is listed in its order, whatever its keys, and newer than what preceded it", () =>
    Effect.gen(function* () {
      yield* withKey(userKeys.one, "POST", "/api/v1/links", { url: "https://example.com/before" })
      const { clock } = yield* TestService
      clock.set(startOfTests_ms + 60_000)
      const links = Array.from({ length: 40 }, (_, place) => ({
        url: `https://example.com/${place}`,
        ...(place % 3 === 0 && { alias: `zz-${99 - place}` }),
        ...(place % 5 === 0 && { title: "Another" })
      }))
      const made = yield* withKey(userKeys.one, "POST", "/api/v1/links/bulk", { links })
      expect(made.status).toBe(200)
      const listed = jsonOf(yield* withKey(userKeys.one, "GET", "/api/v1/links")) as Page
      expect(listed.data.map((link) => link.url)).toEqual([
        ...links.map((link) => link.url),
        "https://example.com/before"
      ])
      expect(listed.data[0]!.createdAt).toBe("2026-11-21T10:01:00.000Z")
    })
  )

  it.effect("says which of its results are those of an earlier request", () =>
    Effect.gen(function* () {
      const { send } = yield* TestService
      const bulk = (links: ReadonlyArray<object>) =>
        Effect.map(
          send({
            method: "POST",
            path: "/api/v1/links/bulk",
            headers: { ...json, "content-type": "application/json", "idempotency-key": "moving" },
            body: JSON.stringify({ links })
          }),
          (answer) => (jsonOf(answer) as { results: ReadonlyArray<object> }).results
        )
      const [first] = yield* bulk([{ url }])
      expect(first).not.toHaveProperty("replayed")
      expect(yield* bulk([{ url }, { url, alias: "a b" }])).toMatchObject([
        { ...first, replayed: true },
        { status: 400 }
      ])
    })
  )
})
