import { expect } from "@effect/vitest"
import { Effect } from "effect"
import * as Iso8601 from "../../../src/model/Iso8601.ts"
import { ask, newKey, newSession, newUser, password, post } from "../../support/samples/Account.ts"
import { type Answer, jsonOf } from "../../support/http/HttpClient.ts"
import { expectProblem } from "../../support/http/Problems.ts"
import { asAdmin, get, TestService, userKeys, withKey, withService } from "../../support/TestService.ts"

interface Entry {
  readonly id: string
  readonly action: string
  readonly [name: string]: unknown
}

const pageOf = (answer: Answer) => {
  expect(answer.status).toBe(200)
  return jsonOf(answer) as { readonly data: ReadonlyArray<Entry>; readonly nextCursor: string | null }
}

const list = (query = "") => Effect.map(asAdmin("GET", `/api/v1/audit${query}`), pageOf)

withService("GET /api/v1/audit", {}, (it) => {
  it.effect("shows entries with who, what, to what and whose, from where and when", () =>
    Effect.gen(function* () {
      const { email, id } = yield* newUser()
      yield* post("/api/v1/session", { email, password: `${password}x` })
      const answer = yield* asAdmin("GET", `/api/v1/audit?user=${id}&action=session.refused`)
      expect(answer.headers["cache-control"]).toBe("no-store")
      expect(pageOf(answer)).toEqual({
        data: [
          {
            id: expect.stringMatching(/^aud_[\w-]{24}$/),
            at: "2026-11-21T10:00:00.000Z",
            lastAt: "2026-11-21T10:00:00.000Z",
            count: 1,
            action: "session.refused",
            by: "nothing",
            userId: null,
            keyId: null,
            client: null,
            target: id,
            ownerId: id
          }
        ],
        nextCursor: null
      })
    })
  )

  it.effect("gives page after page, each entry once, and narrows them down", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      const { headers, id } = yield* newSession
      const begun = yield* clock.currentTimeMillis
      for (let turn = 1; turn <= 5; turn++) {
        clock.set(begun + turn * 1_000)
        yield* newKey({ scopes: ["links:read"] }, headers)
      }
      clock.set(begun)
      const all = yield* list(`?user=${id}`)
      expect(all.data.map(({ action }) => action).toSorted()).toEqual([
        ...Array.from({ length: 5 }, () => "key.added"),
        "session.begun",
        "user.added"
      ])
      const found: Array<Entry> = []
      let cursor: string | null = ""
      while (cursor !== null) {
        const page: ReturnType<typeof pageOf> = yield* list(
          `?user=${id}&limit=3${cursor && `&cursor=${cursor}`}`
        )
        found.push(...page.data)
        cursor = page.nextCursor
      }
      expect(found).toEqual(all.data)
      const moment = (ms: number) => encodeURIComponent(Iso8601.formatMoment(begun + ms))
      const within = yield* list(`?user=${id}&action=key.added&from=${moment(2_000)}&to=${moment(4_000)}`)
      expect(within.data).toHaveLength(2)
    })
  )

  it.effect("is for administrators alone, also where it is about the caller", () =>
    Effect.gen(function* () {
      const { headers, id } = yield* newSession
      expectProblem(yield* get("/api/v1/audit"), "unauthorized")
      expectProblem(yield* ask("GET", "/api/v1/audit", headers), "forbidden")
      expectProblem(yield* ask("GET", `/api/v1/audit?user=${id}`, headers), "forbidden")
      expectProblem(yield* withKey(userKeys.one, "GET", "/api/v1/audit?user=usr_one"), "forbidden")
    })
  )

  it.effect("names what is wrong with a request", () =>
    Effect.gen(function* () {
      const query = "?limit=0&cursor=x&user=a%00b&action=none&from=today&to=1"
      expectProblem(yield* asAdmin("GET", `/api/v1/audit${query}`), "invalid-request", [
        ["user", "must be the id of a user"],
        ["action", /^must be one of session.begun, /],
        ["limit", "must be a whole number from 1 to 500"],
        ["cursor", "is not a cursor of this service"],
        ["from", "must be an RFC 3339 date-time such as 2027-01-01T00:00:00Z"],
        ["to", "must be an RFC 3339 date-time such as 2027-01-01T00:00:00Z"]
      ])
      expectProblem(yield* asAdmin("GET", "/api/v1/audit?limit=501"), "invalid-request", [["limit", /500/]])
      expectProblem(yield* asAdmin("GET", "/api/v1/audit?user=a&user=b"), "invalid-request", [["user", /id/]])
    })
  )
})
