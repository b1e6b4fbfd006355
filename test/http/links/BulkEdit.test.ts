import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { type ExpectedFault, expectProblem, refuses } from "../../support/http/Problems.ts"
import {
  adminKey,
  startOfTests_ms,
  TestService,
  userKeys,
  withKey,
  withService
} from "../../support/TestService.ts"

const url = "https://example.com/"
const path = "/api/v1/links/bulk-edit"

interface Edited {
  readonly changed: number
  readonly unchanged: number
  readonly failed: number
  readonly results: ReadonlyArray<{
    readonly key: string
    readonly status: number
    readonly problem?: object
  }>
  readonly nextCursor: string | null
  readonly total?: object
}

const createAs = (key: string, body: object) =>
  Effect.map(withKey(key, "POST", "/api/v1/links", { url, ...body }), ({ status }) => {
    expect(status).toBe(201)
  })

const edit = (body: object, key: string = userKeys.one) =>
  Effect.map(withKey(key, "POST", path, body), (answer) => {
    expect(answer.status).toBe(200)
    return jsonOf(answer) as Edited
  })

const shown = (alias: string, key: string = userKeys.one) =>
  Effect.map(
    withKey(key, "GET", `/api/v1/links/${alias}`),
    (answer) => jsonOf(answer) as { readonly tags: ReadonlyArray<string>; readonly updatedAt: string }
  )

withService("a bulk edit", {}, (it) => {
  it.effect("renames a tag, merges others into it, and changes nothing when it is repeated", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      yield* createAs(userKeys.one, { alias: "r-1", tags: ["old", "kept"] })
      yield* createAs(userKeys.one, { alias: "r-2", tags: ["older"] })
      yield* createAs(userKeys.one, { alias: "r-3", tags: ["old", "new"] })
      yield* createAs(userKeys.other, { alias: "r-other", tags: ["old"] })
      const rename = (tag: string) =>
        edit({ filter: { tag }, change: { removeTags: [tag], addTags: ["new"] } })
      expect(yield* rename("old")).toMatchObject({ changed: 2, unchanged: 0, failed: 0, nextCursor: null })
      expect(yield* rename("older")).toMatchObject({ changed: 1, results: [{ key: "r-2", status: 200 }] })
      expect(yield* rename("old")).toMatchObject({ changed: 0, results: [] })
      expect((yield* shown("r-1")).tags).toEqual(["kept", "new"])
      expect((yield* shown("r-2")).tags).toEqual(["new"])
      expect((yield* shown("r-3")).tags).toEqual(["new"])
      expect((yield* shown("r-other", userKeys.other)).tags).toEqual(["old"])
      const before = yield* shown("r-2")
      clock.set(startOfTests_ms + 1_000)
      const same = yield* edit({ filter: { tag: "new" }, change: { addTags: ["new"], password: null } })
      expect(same).toMatchObject({ changed: 0, unchanged: 3 })
      expect(yield* shown("r-2")).toEqual(before)
      clock.set(startOfTests_ms)
    })
  )

  it.effect("archives links, which no filter has then unless it asks for them, and brings them back", () =>
    Effect.gen(function* () {
      for (const alias of ["v-1", "v-2"]) yield* createAs(userKeys.one, { alias, tags: ["v"] })
      const change = (filter: object, archived: boolean) =>
        edit({ filter: { tag: "v", ...filter }, change: { archived } })
      expect(yield* change({}, true)).toMatchObject({ changed: 2, failed: 0, nextCursor: null })
      expect(yield* change({}, true)).toMatchObject({ changed: 0, results: [] })
      expect(yield* change({ archived: "any" }, true)).toMatchObject({ changed: 0, unchanged: 2 })
      expect(yield* edit({ filter: { archived: "true" }, delete: true, dryRun: true })).toMatchObject({
        total: { count: 2, isExact: true }
      })
      expect(yield* change({ archived: "true" }, false)).toMatchObject({ changed: 2 })
      expect(yield* shown("v-1")).not.toHaveProperty("archived")
    })
  )

  it.effect("says how many links there are, and does nothing else, in a dry run", () =>
    Effect.gen(function* () {
      for (let index = 0; index < 3; index++) yield* createAs(userKeys.one, { tags: ["dry"] })
      const filter = { tag: "dry" }
      for (const what of [{ delete: true }, { change: { title: "Wet" } }]) {
        expect(yield* edit({ filter, ...what, dryRun: true })).toEqual({
          changed: 0,
          unchanged: 0,
          failed: 0,
          results: [],
          nextCursor: null,
          total: { count: 3, isExact: true }
        })
      }
      expect(yield* edit({ filter: { tag: "dry", q: "Wet" }, delete: true })).toMatchObject({ results: [] })
      expect(yield* edit({ filter, delete: true })).toMatchObject({ changed: 3 })
      expect(yield* edit({ filter, delete: true })).toMatchObject({ changed: 0, results: [] })
    })
  )

  it.effect("changes what a patch does, goes on from page to page, and names what fails alone", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      const tags = ["paged"]
      for (let index = 0; index < 5; index++) {
        clock.set(startOfTests_ms + 1_000 * index)
        const ends = index === 2 && { expiresAt: "2026-12-01T00:00:00Z" }
        yield* createAs(userKeys.one, { alias: `p-${index}`, tags, ...ends })
      }
      clock.set(startOfTests_ms)
      const change = { validSince: "2026-12-24T00:00:00.000Z", title: "Paged", note: "For Christmas" }
      const seen: Array<string> = []
      let cursor: string | null = null
      do {
        const page: Edited = yield* edit({
          filter: { tag: "paged" },
          change,
          limit: 2,
          ...(cursor !== null && { cursor })
        })
        expect(page.results.length).toBeLessThanOrEqual(2)
        seen.push(...page.results.map(({ key, status }) => `${key} ${status}`))
        cursor = page.nextCursor
      } while (cursor !== null)
      expect(seen).toEqual(["p-4 200", "p-3 200", "p-2 400", "p-1 200", "p-0 200"])
      expect(yield* shown("p-0")).toMatchObject(change)
      expect(yield* shown("p-2")).toMatchObject({ title: null, validSince: null })
      const again = yield* edit({ filter: { tag: "paged" }, change })
      expect(again).toMatchObject({ changed: 0, unchanged: 4, failed: 1 })
      expect(again.results[2]).toMatchObject({
        key: "p-2",
        problem: { errors: [{ path: "validSince" }] }
      })
      const many = Array.from({ length: 20 }, (_, index) => `tag ${index}`)
      const full = yield* edit({ filter: { tag: "paged", q: "p-0" }, change: { addTags: many } })
      expect(full).toMatchObject({
        failed: 1,
        results: [{ status: 400, problem: { errors: [{ path: "tags" }] } }]
      })
    })
  )

  it.effect("of an administrator reaches links of others, and each is in the audit log", () =>
    Effect.gen(function* () {
      const { audit } = yield* TestService
      yield* createAs(userKeys.one, { alias: "a-1", tags: ["audited"] })
      yield* createAs(userKeys.other, { alias: "a-2", tags: ["audited"] })
      const filter = { tag: "audited", owner: "usr_one" }
      expectProblem(yield* withKey(userKeys.other, "POST", path, { filter, delete: true }), "forbidden")
      expect(yield* edit({ filter, change: { title: "t" } }, adminKey)).toMatchObject({ changed: 1 })
      expect(yield* edit({ filter: { tag: "audited" }, delete: true }, adminKey)).toMatchObject({
        changed: 2
      })
      const targets = (action: "link.changed" | "link.deleted") =>
        Effect.map(audit.list({ action, limit: 10 }), (entries) =>
          entries.map(({ target }) => target).toSorted()
        )
      expect(yield* targets("link.changed")).toEqual(["a-1"])
      expect(yield* targets("link.deleted")).toEqual(["a-1", "a-2"])
    })
  )

  it.effect("ends early where the service cannot answer, and can go on from there", () =>
    Effect.gen(function* () {
      const { setFault } = yield* TestService
      for (let index = 0; index < 20; index++) yield* createAs(userKeys.other, { tags: ["away"] })
      yield* setFault("audit", "fails")
      const body = { filter: { tag: "away" }, change: { title: "t" } }
      const answer = yield* edit(body, adminKey).pipe(Effect.ensuring(setFault("audit", "none")))
      expect(answer).toMatchObject({ changed: 0, failed: 16 })
      expect(answer.results.every(({ status }) => status === 503)).toBe(true)
      const rest = yield* edit({ ...body, cursor: answer.nextCursor }, adminKey)
      expect(rest).toMatchObject({ changed: 4, nextCursor: null })
      expect(yield* edit(body, adminKey)).toMatchObject({ changed: 16, unchanged: 4, failed: 0 })
    })
  )

  const filter = { tag: "x" }
  const title = { title: "t" }
  const refused: ReadonlyArray<readonly [body: object, ...faults: ReadonlyArray<ExpectedFault>]> = [
    [{ change: title }, ["filter", /^is required$/]],
    [{ filter }, ["change", /^or delete must be there, and not both$/]],
    [{ filter, change: title, delete: true }, ["change", /not both$/]],
    [{ filter, delete: false }, ["delete", /^must be true$/]],
    [{ filter: { tag: "" }, delete: true }, ["filter.tag", /^must have 1 to 256/]],
    [{ filter: { tags: "a" }, delete: true }, ["filter.tags", /not a known/]],
    [{ filter: { domain: "nowhere.example" }, delete: true }, ["filter.domain", /not a domain/]],
    [{ filter, delete: true, cursor: "x" }, ["cursor", /not a cursor/]],
    [{ filter, delete: true, limit: 201 }, ["limit", /^must be a whole number from 1 to 200$/]],
    [{ filter, change: [] }, ["change", /^must be an object$/]],
    [{ filter, change: {} }, ["change", /^must name a field at least$/]],
    [{ filter, change: { alias: "a-b" } }, ["change.alias", /not a known/]],
    [{ filter, change: { title: "" } }, ["change.title", /^must have 1 to 256/]],
    [{ filter, change: { addTags: [""] } }, ["change.addTags.0", /^must have 1 to 64/]],
    [{ filter, change: { addTags: ["a"], tags: [] } }, ["change.tags", /^cannot stand beside/]],
    [{ filter, change: { password: "secret" } }, ["change.password", /by itself$/]],
    [{ filter, change: { expiresIn: "P1D" } }, ["change.expiresIn", /use expiresAt$/]],
    [{ filter, change: { expiresAt: "2020-01-01T00:00:00Z" } }, ["change.expiresAt", /in the future/]]
  ]
  for (const [body, ...faults] of refused) {
    it.effect(`is refused whole: ${JSON.stringify(body).slice(0, 60)}`, () =>
      refuses(withKey(userKeys.one, "POST", path, body), "invalid-request", ...faults)
    )
  }
})
