import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { expectProblem } from "../../support/http/Problems.ts"
import {
  asAdmin,
  create,
  get,
  TestService,
  userKeys,
  withKey,
  withService
} from "../../support/TestService.ts"

const url = "https://example.com/"

const createAs = (key: string, alias: string) => withKey(key, "POST", "/api/v1/links", { url, alias })

withService("a link of another owner", {}, (it) => {
  it.effect("is not there: 404 to show, to change and to delete, and it stays as it was", () =>
    Effect.gen(function* () {
      const created = yield* createAs(userKeys.one, "of-one")
      expect(created.status).toBe(201)
      const path = "/api/v1/links/of-one"
      expectProblem(yield* withKey(userKeys.other, "GET", path), "not-found")
      expectProblem(yield* withKey(userKeys.other, "PATCH", path, { title: "taken over" }), "not-found")
      expectProblem(yield* withKey(userKeys.other, "DELETE", path), "not-found")
      expect(jsonOf(yield* withKey(userKeys.one, "GET", path))).toEqual(jsonOf(created))
      expect((yield* get("/of-one")).status).toBe(302)
    })
  )

  it.effect("is told from one that is not there by nothing in the answer", () =>
    Effect.gen(function* () {
      yield* createAs(userKeys.one, "hidden")
      for (const method of ["GET", "PATCH", "DELETE"]) {
        const body = method === "PATCH" ? { title: "t" } : undefined
        const [hidden, absent] = [
          yield* withKey(userKeys.other, method, "/api/v1/links/hidden", body),
          yield* withKey(userKeys.other, method, "/api/v1/links/absent", body)
        ]
        expect(hidden.text).toBe(absent.text)
        expect(Object.keys(hidden.headers)).toEqual(Object.keys(absent.headers))
      }
    })
  )

  it.effect("is the administrator's to show, to change and to delete, and stays its owner's", () =>
    Effect.gen(function* () {
      yield* createAs(userKeys.one, "administered")
      const path = "/api/v1/links/administered"
      expect((yield* asAdmin("GET", path)).status).toBe(200)
      expect((yield* asAdmin("PATCH", path, { title: "t" })).status).toBe(200)
      expect(jsonOf(yield* withKey(userKeys.one, "GET", path))).toMatchObject({ title: "t" })
      expect((yield* asAdmin("DELETE", path)).status).toBe(204)
      expectProblem(yield* withKey(userKeys.one, "GET", path), "not-found")
    })
  )

  it.effect("that is the administrator's or nobody's is no user's", () =>
    Effect.gen(function* () {
      yield* create({ url, alias: "of-nobody" })
      yield* asAdmin("POST", "/api/v1/links", { url, alias: "of-admin" })
      for (const alias of ["of-nobody", "of-admin"]) {
        expectProblem(yield* withKey(userKeys.one, "GET", `/api/v1/links/${alias}`), "not-found")
        expectProblem(yield* withKey(userKeys.one, "DELETE", `/api/v1/links/${alias}`), "not-found")
        expect((yield* asAdmin("PATCH", `/api/v1/links/${alias}`, { title: "t" })).status).toBe(200)
      }
    })
  )
})

withService("an API key", {}, (it) => {
  it.effect("that may read alone shows and lists its user's links, and does nothing else", () =>
    Effect.gen(function* () {
      const { stored } = yield* TestService
      yield* createAs(userKeys.one, "read-only")
      const path = "/api/v1/links/read-only"
      const before = yield* stored
      expect((yield* withKey(userKeys.reader, "GET", path)).status).toBe(200)
      expect((yield* withKey(userKeys.reader, "GET", "/api/v1/links")).status).toBe(200)
      expectProblem(yield* createAs(userKeys.reader, "another"), "forbidden")
      expectProblem(yield* withKey(userKeys.reader, "PATCH", path, { title: "t" }), "forbidden")
      expectProblem(yield* withKey(userKeys.reader, "DELETE", path), "forbidden")
      expect(yield* stored).toBe(before)
      expect(jsonOf(yield* asAdmin("GET", path))).toMatchObject({ title: null })
    })
  )

  it.effect("that may not read shows and lists nothing", () =>
    Effect.gen(function* () {
      expectProblem(yield* withKey(userKeys.blind, "GET", "/api/v1/links"), "forbidden")
      expectProblem(yield* withKey(userKeys.blind, "GET", "/api/v1/links/any"), "forbidden")
    })
  )
})
