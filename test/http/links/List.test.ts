import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { expectProblem, refuses } from "../../support/http/Problems.ts"
import {
  asAdmin,
  create,
  get,
  startOfTests_ms,
  TestService,
  userKeys,
  withKey,
  withService
} from "../../support/TestService.ts"

const url = "https://example.com/"

interface Page {
  readonly data: ReadonlyArray<{ readonly key: string }>
  readonly nextCursor: string | null
}

const list = (query: string, key: string = userKeys.one) =>
  Effect.map(withKey(key, "GET", `/api/v1/links${query}`), (answer) => {
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({ "content-type": "application/json", "cache-control": "no-store" })
    return jsonOf(answer) as Page
  })

const keysOf = ({ data }: Page) => data.map(({ key }) => key)

const createAs = (key: string, body: object) => withKey(key, "POST", "/api/v1/links", { url, ...body })

/** Links of one user, a second after each other. */
const links = (aliases: ReadonlyArray<string>, body: object = {}) =>
  Effect.gen(function* () {
    const { clock } = yield* TestService
    for (const [index, alias] of aliases.entries()) {
      clock.set(startOfTests_ms + 1_000 * index)
      expect((yield* createAs(userKeys.one, { alias, ...body })).status).toBe(201)
    }
    clock.set(startOfTests_ms)
  })

withService("a list of links", {}, (it) => {
  it.effect("has the caller's own as they are shown, the newest first, and those alone", () =>
    Effect.gen(function* () {
      expect(yield* list("")).toEqual({ data: [], nextCursor: null })
      yield* create({ url, alias: "of-nobody" })
      yield* createAs(userKeys.other, { alias: "of-other" })
      yield* links(["first", "second", "third"])
      const page = yield* list("")
      expect(keysOf(page)).toEqual(["third", "second", "first"])
      expect(page.nextCursor).toBeNull()
      expect(page.data[1]).toEqual(jsonOf(yield* withKey(userKeys.one, "GET", "/api/v1/links/second")))
      expect(keysOf(yield* list("", userKeys.reader))).toEqual(["third", "second", "first"])
      expect(keysOf(yield* list("?orderBy=createdAt-asc"))).toEqual(["first", "second", "third"])
      expect(keysOf(yield* list("?orderBy=createdAt-desc&owner=usr_one"))).toEqual([
        "third",
        "second",
        "first"
      ])
    })
  )

  it.effect("leaves deleted links out, and no expired ones", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      yield* createAs(userKeys.one, { alias: "expired", expiresIn: "PT1S", tags: ["states"] })
      yield* createAs(userKeys.one, { alias: "deleted", tags: ["states"] })
      yield* withKey(userKeys.one, "DELETE", "/api/v1/links/deleted")
      clock.set(startOfTests_ms + 5_000)
      expect(keysOf(yield* list("?tag=states"))).toEqual(["expired"])
      clock.set(startOfTests_ms)
    })
  )

  it.effect("is for administrators everybody's, or one user's", () =>
    Effect.gen(function* () {
      yield* createAs(userKeys.other, { alias: "x-other", tags: ["whose"] })
      yield* createAs(userKeys.one, { alias: "x-one", tags: ["whose"] })
      yield* create({ url, alias: "x-nobody", tags: ["whose"] })
      const page = (query: string) =>
        Effect.map(asAdmin("GET", `/api/v1/links?tag=whose${query}`), (answer) =>
          keysOf(jsonOf(answer) as Page)
        )
      expect(new Set(yield* page(""))).toEqual(new Set(["x-other", "x-one", "x-nobody"]))
      expect(yield* page("&owner=usr_other")).toEqual(["x-other"])
      expect(yield* page("&owner=nobody")).toEqual([])
    })
  )

  it.effect("of another user is forbidden, and of callers who do not say who they are", () =>
    Effect.gen(function* () {
      expectProblem(yield* withKey(userKeys.other, "GET", "/api/v1/links?owner=usr_one"), "forbidden")
      expectProblem(yield* withKey(userKeys.other, "GET", "/api/v1/links?owner=admin"), "forbidden")
      expectProblem(yield* get("/api/v1/links"), "unauthorized")
    })
  )

  it.effect("is searched by text and by tag", () =>
    Effect.gen(function* () {
      yield* createAs(userKeys.one, { alias: "Needle-1" })
      yield* createAs(userKeys.one, { alias: "hay-2", title: "Die NÄDEL 100%", tags: ["x y", "ä&b=c"] })
      yield* createAs(userKeys.one, { alias: "hay-3", url: "https://example.com/NEEDLE?q=1" })
      yield* createAs(userKeys.other, { alias: "needle-of-other" })
      const found = (query: string) => Effect.map(list(`?${query}`), (page) => new Set(keysOf(page)))
      expect(yield* found("q=needle")).toEqual(new Set(["Needle-1", "hay-3"]))
      expect(yield* found("q=n%C3%A4del")).toEqual(new Set(["hay-2"]))
      expect(yield* found("q=100%25")).toEqual(new Set(["hay-2"]))
      expect(yield* found("q=%3Fq%3D1")).toEqual(new Set(["hay-3"]))
      expect(yield* found("q=ha_-2")).toEqual(new Set())
      expect(yield* found("tag=x+y")).toEqual(new Set(["hay-2"]))
      expect(yield* found("tag=%C3%A4%26b%3Dc&q=die")).toEqual(new Set(["hay-2"]))
      expect(yield* found("tag=x")).toEqual(new Set())
      expect(yield* found("notTag=x+y&q=hay-")).toEqual(new Set(["hay-3"]))
      expect(yield* found("notTag=x+y&tag=x+y")).toEqual(new Set())
    })
  )

  it.effect("leaves archived links out unless it is asked for them, and they redirect", () =>
    Effect.gen(function* () {
      yield* createAs(userKeys.one, { alias: "in-use", tags: ["kept"] })
      yield* createAs(userKeys.one, { alias: "put-away", tags: ["kept"], archived: true })
      yield* createAs(userKeys.one, { alias: "changed", tags: ["kept"] })
      const archive = (archived: boolean | null) =>
        withKey(userKeys.one, "PATCH", "/api/v1/links/changed", { archived })
      expect(jsonOf(yield* archive(true))).toMatchObject({ key: "changed", archived: true })
      const found = (query: string) =>
        Effect.map(list(`?tag=kept&total=true${query}`), (page) => {
          expect(page).toMatchObject({ total: { count: page.data.length, isExact: true } })
          return new Set(keysOf(page))
        })
      for (const query of ["", "&archived=false"]) expect(yield* found(query)).toEqual(new Set(["in-use"]))
      expect(yield* found("&archived=true")).toEqual(new Set(["put-away", "changed"]))
      expect(yield* found("&archived=any")).toEqual(new Set(["in-use", "put-away", "changed"]))
      expect((yield* get("/put-away")).headers.location).toBe(url)
      expect((yield* get("/changed")).headers.location).toBe(url)
      for (const back of [false, null]) {
        yield* archive(true)
        expect(jsonOf(yield* archive(back))).not.toHaveProperty("archived")
        expect(yield* found("")).toEqual(new Set(["in-use", "changed"]))
      }
    })
  )

  it.effect("has a total where that is asked for, which no page changes", () =>
    Effect.gen(function* () {
      for (let index = 0; index < 5; index++) yield* createAs(userKeys.one, { tags: ["counted"] })
      const page = yield* list("?tag=counted&limit=2&total=true")
      expect(page).toMatchObject({ total: { count: 5, isExact: true } })
      expect(yield* list(`?tag=counted&limit=2&total=true&cursor=${page.nextCursor}`)).toMatchObject({
        total: { count: 5, isExact: true }
      })
      expect(yield* list("?tag=counted&total=false")).not.toHaveProperty("total")
      expect(yield* list("?tag=counted")).not.toHaveProperty("total")
    })
  )

  it.effect("is followed from page to page, and shows each link once", () =>
    Effect.gen(function* () {
      // Many in the same millisecond.
      for (let index = 0; index < 11; index++) {
        yield* createAs(userKeys.one, { alias: `page-${index}`, tags: ["paged"] })
      }
      for (const order of ["createdAt-asc", "createdAt-desc"]) {
        for (const limit of [1, 3, 11, 500]) {
          const seen: Array<string> = []
          let cursor = ""
          do {
            const page: Page = yield* list(`?tag=paged&limit=${limit}&orderBy=${order}${cursor}`)
            expect(page.data.length).toBeLessThanOrEqual(limit)
            seen.push(...keysOf(page))
            yield* createAs(userKeys.one, { url: `${url}new` })
            cursor = page.nextCursor === null ? "" : `&cursor=${page.nextCursor}`
          } while (cursor !== "")
          expect(seen).toHaveLength(11)
          expect(new Set(seen).size).toBe(11)
        }
      }
    })
  )

  it.effect("has 50 links a page unless asked otherwise", () =>
    Effect.gen(function* () {
      yield* Effect.forEach(Array.from({ length: 60 }), () => createAs(userKeys.other, {}), {
        concurrency: 8
      })
      const page = yield* list("", userKeys.other)
      expect(page.data).toHaveLength(50)
      expect(page.nextCursor).toMatch(/^[A-Za-z0-9_-]+$/)
    })
  )
})

withService("a list's parameter", {}, (it) => {
  const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
  const refusedCursors = {
    nothing: "",
    "another text": "abc",
    "no base64url": "%2B%2F%3D",
    "no JSON": Buffer.from("{").toString("base64url"),
    "an object": encoded({ createdAt: 1 }),
    "too short": encoded(["createdAt-desc", 1]),
    "another order's": encoded(["createdAt-asc", 1, "abc"]),
    "an order's with a rank it has none of": encoded(["createdAt-desc", 1, "abc", 1]),
    "a ranked order's without a rank": encoded(["visits-desc", 1, "abc"]),
    "a ranked order's with a fraction": encoded(["visits-desc", 1, "abc", 0.5]),
    "an unknown order's": encoded(["title", 1, "abc"]),
    "a text for a time": encoded(["createdAt-desc", "1", "abc"]),
    "a fraction": encoded(["createdAt-desc", 1.5, "abc"]),
    "a time before 1970": encoded(["createdAt-desc", -1, "abc"]),
    "a time beyond all": encoded(["createdAt-desc", 1e300, "abc"]),
    "a key that is none": encoded(["createdAt-desc", 1, "a b'\u0000"]),
    "a long key": encoded(["createdAt-desc", 1, "a".repeat(65)]),
    "a number for a key": encoded(["createdAt-desc", 1, 1])
  }
  for (const [what, cursor] of Object.entries(refusedCursors)) {
    it.effect(`cursor: ${what}`, () =>
      refuses(withKey(userKeys.one, "GET", `/api/v1/links?cursor=${cursor}`), "invalid-request", [
        "cursor",
        what === "another order's" ? /^belongs to a list in the order createdAt-asc$/ : /^is not a cursor/
      ])
    )
  }

  const refused: ReadonlyArray<readonly [query: string, path: string, message: RegExp]> = [
    ...["0", "501", "-1", "1.5", "1e2", "", "ten", "%2B5", "0x10", "%D9%A3", "9".repeat(400)].map(
      (limit) => [`limit=${limit}`, "limit", /^must be a whole number from 1 to 500$/] as const
    ),
    ["limit=1&limit=2", "limit", /^must be a whole number/],
    ["orderBy=title", "orderBy", /^must be createdAt-desc, createdAt-asc, visits-desc or lastVisit-desc$/],
    ["orderBy=createdAt-asc&orderBy=createdAt-asc", "orderBy", /^must be createdAt-desc, /],
    ["q=", "q", /^must have 1 to 256 characters, and no control characters$/],
    [`q=${"q".repeat(257)}`, "q", /^must have 1 to 256/],
    ["q=%00", "q", /^must have 1 to 256/],
    ["q=a&q=b", "q", /^must have 1 to 256/],
    ["tag=", "tag", /^must have 1 to 256/],
    ["tag=a%0Ab", "tag", /^must have 1 to 256/],
    ["notTag=", "notTag", /^must have 1 to 256/],
    ...["archived=", "archived=yes", "archived=true&archived=true"].map(
      (query) => [query, "archived", /^must be false, true or any$/] as const
    ),
    ["owner=", "owner", /^must have 1 to 256/],
    ["owner=a&owner=b", "owner", /^must have 1 to 256/],
    ["total=yes", "total", /^must be true or false$/],
    ["total=true&total=true", "total", /^must be true or false$/],
    ["cursor=a&cursor=b", "cursor", /^is not a cursor/]
  ]
  for (const [query, path, message] of refused) {
    it.effect(`${query.slice(0, 40)} is refused`, () =>
      refuses(withKey(userKeys.one, "GET", `/api/v1/links?${query}`), "invalid-request", [path, message])
    )
  }

  it.effect("is faulted with all others that are", () =>
    refuses(
      withKey(userKeys.one, "GET", "/api/v1/links?limit=0&q=&cursor=x"),
      "invalid-request",
      ["limit", /./],
      ["q", /./],
      ["cursor", /./]
    )
  )

  it.effect("limit may be 1 to 500, and q may have any characters", () =>
    Effect.gen(function* () {
      for (const query of [
        "limit=1",
        "limit=500",
        `q=${encodeURIComponent("🍃".repeat(256))}`,
        "q=%25_%5C'%22"
      ]) {
        expect((yield* list(`?${query}`)).data).toEqual([])
      }
    })
  )

  it.effect("opens nothing: a cursor of another user's list goes on in one's own", () =>
    Effect.gen(function* () {
      yield* createAs(userKeys.other, { alias: "theirs-1" })
      yield* createAs(userKeys.other, { alias: "theirs-2" })
      const { nextCursor } = yield* list("?limit=1", userKeys.other)
      expect((yield* list(`?cursor=${nextCursor}`)).data).toEqual([])
    })
  )
})

withService("a list of links whose visits cannot be read", {}, (it) => {
  it.effect("is made once more, as their database may have gone away", () =>
    Effect.gen(function* () {
      const { setFault } = yield* TestService
      yield* links(["shown"])
      yield* setFault("visits", "fails once")
      expect(keysOf(yield* list(""))).toEqual(["shown"])
      yield* setFault("visits", "fails")
      yield* refuses(withKey(userKeys.one, "GET", "/api/v1/links"), "unavailable")
      yield* setFault("visits", "none")
    })
  )
})
