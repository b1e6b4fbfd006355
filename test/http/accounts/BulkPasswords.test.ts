import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { asAdmin, post } from "../../support/samples/Account.ts"
import { jsonOf, type Request } from "../../support/http/HttpClient.ts"
import { withService } from "../../support/TestService.ts"

/** Creates a bulk: the statuses of its items, and the faults of those that were refused. */
const bulk = (links: ReadonlyArray<object>, headers: Request["headers"] = {}) =>
  Effect.map(post("/api/v1/links/bulk", { links }, headers), (answer) => {
    const { results } = jsonOf(answer) as {
      readonly results: ReadonlyArray<{
        readonly status: number
        readonly problem?: { readonly errors: unknown }
      }>
    }
    return results
  })

const url = "https://example.com/"
const password = "open sesame"

withService("a bulk whose links have passwords", {}, (it) => {
  it.effect("makes none of them without an account, and all others", () =>
    Effect.gen(function* () {
      const results = yield* bulk([{ url }, { url, password }, { url }])
      expect(results.map(({ status }) => status)).toEqual([201, 403, 201])
      expect(results[1]!.problem!.errors).toMatchObject([{ path: "password" }])
    })
  )

  it.effect("makes twenty of them for a user", () =>
    Effect.gen(function* () {
      const results = yield* bulk(
        Array.from({ length: 22 }, () => ({ url, password })),
        asAdmin
      )
      const statuses = results.map(({ status }) => status)
      expect(statuses).toEqual([...Array.from({ length: 20 }, () => 201), 400, 400])
      expect(results[21]!.problem!.errors).toMatchObject([{ path: "password" }])
    })
  )
})
