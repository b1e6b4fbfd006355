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

/** Does something just once, after the next page of links has been read. */
const afterNextList = <A, E>(what: Effect.Effect<A, E, TestService>) =>
  Effect.map(TestService, (service) => {
    service.meanwhile.afterList = Effect.suspend(() => {
      service.meanwhile.afterList = Effect.void
      return Effect.provideService(what, TestService, service)
    })
  })

/** A patch of a link that is acknowledged. */
const patched = (alias: string, change: object) =>
  Effect.map(withKey(userKeys.one, "PATCH", `/api/v1/links/${alias}`, change), ({ status }) => {
    expect(status).toBe(200)
  })

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

  it.effect("of an administrator is recorded once of each link, also of one that is changed meanwhile", () =>
    Effect.gen(function* () {
      const { audit } = yield* TestService
      yield* createAs(userKeys.one, { alias: "once-1", tags: ["once"] })
      for (const [action, what] of [
        ["link.changed", { change: { title: "t" } }],
        ["link.deleted", { delete: true }]
      ] as const) {
        yield* afterNextList(patched("once-1", { title: "Changed" }))
        expect(yield* edit({ filter: { tag: "once" }, ...what }, adminKey)).toMatchObject({ changed: 1 })
        const entries = yield* audit.list({ action, limit: 100 })
        expect(entries.find(({ target }) => target === "once-1")).toMatchObject({ count: 1 })
      }
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

  it.effect("adds and removes tags of what a patch has made of them since the page was read", () =>
    Effect.gen(function* () {
      yield* createAs(userKeys.one, { alias: "m-1", tags: ["merged", "old"] })
      const change = { addTags: ["added"], removeTags: ["old"] }
      yield* afterNextList(patched("m-1", { tags: ["merged", "patched", "old"] }))
      expect(yield* edit({ filter: { tag: "merged" }, change })).toMatchObject({ changed: 1, failed: 0 })
      expect((yield* shown("m-1")).tags).toEqual(["merged", "patched", "added"])
      const other = edit({
        filter: { tag: "merged" },
        change: { addTags: ["other"], removeTags: ["patched"] }
      })
      yield* afterNextList(other)
      expect(yield* edit({ filter: { tag: "merged" }, change: { addTags: ["one"] } })).toMatchObject({
        changed: 1
      })
      expect((yield* shown("m-1")).tags).toEqual(["merged", "added", "other", "one"])
    })
  )

  it.effect("leaves a link as it is that has been patched to what it asks for", () =>
    Effect.gen(function* () {
      yield* createAs(userKeys.one, { alias: "s-1", tags: ["same"] })
      yield* afterNextList(patched("s-1", { tags: ["same", "new"], note: "patched" }))
      const answer = yield* edit({ filter: { tag: "same" }, change: { addTags: ["new"] } })
      expect(answer).toMatchObject({ changed: 0, unchanged: 1, results: [{ key: "s-1", status: 200 }] })
    })
  )

  const leaving: ReadonlyArray<readonly [what: string, filter: object, patch: object]> = [
    ["untagged", { tag: "leaves-0" }, { tags: [] }],
    ["tagged", { tag: "leaves-1", notTag: "keep" }, { tags: ["leaves-1", "keep"] }],
    ["archived", { tag: "leaves-2" }, { archived: true }],
    ["renamed", { tag: "leaves-3", q: "throw away" }, { title: "Keep" }],
    ["led elsewhere", { tag: "leaves-4", q: "example.com/away" }, { url: "https://example.com/kept" }]
  ]
  for (const [index, [what, filter, patch]] of leaving.entries()) {
    it.effect(`deletes and changes no link that is ${what} out of the filter after the page was read`, () =>
      Effect.gen(function* () {
        const [left, stays] = [`left-${index}`, `stays-${index}`]
        const link = { title: "Throw away", url: "https://example.com/away", tags: [`leaves-${index}`] }
        yield* createAs(userKeys.one, { ...link, alias: left })
        yield* createAs(userKeys.one, { ...link, alias: stays })
        yield* afterNextList(patched(left, patch))
        const edited = yield* edit({ filter, change: { note: "edited" } })
        expect(edited).toMatchObject({ changed: 1, unchanged: 0, failed: 0 })
        expect(edited.results).toMatchObject([{ key: stays }])
        expect(yield* shown(left)).not.toHaveProperty("note")
        yield* patched(left, { ...link, archived: false })
        yield* afterNextList(patched(left, patch))
        const deleted = yield* edit({ filter, delete: true })
        expect(deleted.results).toEqual([{ key: stays, status: 204, changed: true }])
        expect(yield* shown(left)).toMatchObject(patch)
        expectProblem(yield* withKey(userKeys.one, "GET", `/api/v1/links/${stays}`), "not-found")
      })
    )
  }

  it.effect("deletes a link that has been changed and is in the filter still", () =>
    Effect.gen(function* () {
      yield* createAs(userKeys.one, { alias: "d-1", tags: ["doomed"] })
      yield* createAs(userKeys.one, { alias: "d-2", tags: ["doomed"] })
      const gone = Effect.map(withKey(userKeys.one, "DELETE", "/api/v1/links/d-2"), ({ status }) =>
        expect(status).toBe(204)
      )
      yield* afterNextList(Effect.zipRight(patched("d-1", { title: "Changed" }), gone))
      const answer = yield* edit({ filter: { tag: "doomed" }, delete: true })
      expect(answer).toMatchObject({ changed: 1, failed: 1 })
      expect(answer.results.find(({ key }) => key === "d-1")).toMatchObject({ status: 204 })
      expectProblem(yield* withKey(userKeys.one, "GET", "/api/v1/links/d-1"), "not-found")
    })
  )

  it.effect("gives up a link that is changed before each try, and says so", () =>
    Effect.gen(function* () {
      const { links, meanwhile } = yield* TestService
      yield* createAs(userKeys.one, { alias: "busy-1", tags: ["busy"] })
      let [writes, updateId] = [0, 0]
      const keepsChanging = () =>
        links.updateMany([
          {
            key: "busy-1",
            owner: "usr_one",
            at: startOfTests_ms,
            change: { title: `Title ${++writes}` },
            updateId: ++updateId
          }
        ])
      for (const what of [{ delete: true }, { change: { addTags: ["late"] } }]) {
        writes = 0
        meanwhile.beforeWrite = keepsChanging
        const answer = yield* edit({ filter: { tag: "busy" }, ...what }).pipe(
          Effect.ensuring(Effect.sync(() => (meanwhile.beforeWrite = () => Effect.void)))
        )
        expect(answer).toMatchObject({
          changed: 0,
          failed: 1,
          results: [{ key: "busy-1", status: 503, problem: { status: 503 } }]
        })
        expect(writes).toBe(4)
        expect(yield* shown("busy-1")).toMatchObject({ title: "Title 4", tags: ["busy"] })
      }
    })
  )

  it.effect("of a page that nobody else changes writes each link once, and reads none of them again", () =>
    Effect.gen(function* () {
      const { lookedUp, meanwhile } = yield* TestService
      const links = Array.from({ length: 200 }, () => ({ url, tags: ["calm"] }))
      expect((yield* withKey(userKeys.other, "POST", "/api/v1/links/bulk", { links })).status).toBe(200)
      const before = yield* lookedUp
      const written: Array<string> = []
      meanwhile.beforeWrite = (keys) => Effect.sync(() => written.push(...keys))
      const answer = yield* edit(
        { filter: { tag: "calm" }, change: { addTags: ["new"] } },
        userKeys.other
      ).pipe(Effect.ensuring(Effect.sync(() => (meanwhile.beforeWrite = () => Effect.void))))
      expect(answer).toMatchObject({ changed: 200, failed: 0, nextCursor: null })
      expect((yield* lookedUp) - before).toBe(0)
      expect(written.toSorted()).toEqual(answer.results.map(({ key }) => key).toSorted())
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
