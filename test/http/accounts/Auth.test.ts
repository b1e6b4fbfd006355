import { expect } from "@effect/vitest"
import { Effect } from "effect"
import type { Request } from "../../support/http/HttpClient.ts"
import { expectProblem, refuses } from "../../support/http/Problems.ts"
import { adminKey, create, get, TestService, withService } from "../../support/TestService.ts"

const url = "https://example.com/"

const accepted: Record<string, Request["headers"]> = {
  "X-Api-Key": { "x-api-key": adminKey },
  "Authorization: Bearer": { authorization: `Bearer ${adminKey}` },
  "Authorization: bearer in lower case, and spaces": { authorization: `bearer   ${adminKey} ` },
  "X-Api-Key beside another scheme": { "x-api-key": adminKey, authorization: "Basic YTpi" }
}

/** Headers that name a key that is none. */
const refused: Record<string, Request["headers"]> = {
  "a wrong X-Api-Key": { "x-api-key": "lm_wrong-key-wrong-key-wrong-key" },
  "an empty X-Api-Key": { "x-api-key": "" },
  "an X-Api-Key with one character more": { "x-api-key": `${adminKey}x` },
  "an X-Api-Key in another case": { "x-api-key": adminKey.toUpperCase() },
  "two X-Api-Keys": { "x-api-key": [adminKey, adminKey] },
  "an X-Api-Key of 10,000 characters": { "x-api-key": "k".repeat(10_000) },
  "a wrong Bearer key": { authorization: "Bearer lm_wrong-key-wrong-key-wrong-key" },
  "a wrong X-Api-Key beside the right Bearer key": {
    "x-api-key": "lm_wrong-key",
    authorization: `Bearer ${adminKey}`
  }
}

const malformed: Record<string, Request["headers"]> = {
  "an Authorization without a key": { authorization: "Bearer" },
  "an empty Authorization": { authorization: "" },
  "the key as the whole Authorization": { authorization: adminKey },
  "an Authorization of another scheme": { authorization: `Basic ${btoa(`admin:${adminKey}`)}` },
  "an Authorization with two keys": { authorization: `Bearer ${adminKey} ${adminKey}` },
  "an Authorization with the scheme run into the key": { authorization: `Bearer${adminKey}` }
}

/** What each request must not be done without a key. */
const challenge = { "www-authenticate": 'Bearer realm="linkmint"' }

withService("where anonymous creates are off, a create", { anonymousCreates: false }, (it) => {
  it.effect("without a key is refused", () =>
    Effect.map(refuses(create({ url }), "unauthorized"), (answer) => {
      expect(answer.headers).toMatchObject(challenge)
    })
  )
  it.effect("without a key is refused before its body is looked at", () =>
    refuses(create("{", { "content-type": "text/plain" }), "unauthorized")
  )
  for (const [what, headers] of Object.entries({ ...refused, ...malformed })) {
    it.effect(`with ${what} is refused`, () =>
      Effect.map(refuses(create({ url }, headers), "unauthorized"), (answer) => {
        expect(answer.headers).toMatchObject(challenge)
      })
    )
  }
  for (const [what, headers] of Object.entries(accepted)) {
    it.effect(`with the key as ${what} is done`, () =>
      Effect.map(create({ url }, headers), ({ status }) => expect(status).toBe(201))
    )
  }
})

withService("where anonymous creates are on, a create", {}, (it) => {
  it.effect("without a key is done", () =>
    Effect.map(create({ url }), ({ status }) => expect(status).toBe(201))
  )
  // Whoever sends a key means to be someone.
  for (const [what, headers] of Object.entries({ ...refused, ...malformed })) {
    it.effect(`with ${what} is refused all the same`, () => refuses(create({ url }, headers), "unauthorized"))
  }
  for (const [what, headers] of Object.entries(accepted)) {
    it.effect(`with the key as ${what} is done`, () =>
      Effect.map(create({ url }, headers), ({ status }) => expect(status).toBe(201))
    )
  }
})

withService("a link's owner alone", {}, (it) => {
  for (const method of ["GET", "DELETE"]) {
    const ask = (key: string, headers: NonNullable<Request["headers"]>) =>
      Effect.flatMap(TestService, (service) =>
        service.send({ method, path: `/api/v1/links/${key}`, headers })
      )
    const doing = method === "GET" ? "sees" : "deletes"

    for (const [what, headers] of Object.entries({ "no key": {}, ...refused, ...malformed })) {
      it.effect(`${doing} it: not who has ${what}, and the link stays`, () =>
        Effect.gen(function* () {
          const created = yield* create({ url })
          const { key } = JSON.parse(created.text) as { key: string }
          const answer = yield* ask(key, headers ?? {})
          expectProblem(answer, "unauthorized")
          expect(answer.headers).toMatchObject(challenge)
          expect((yield* get(`/${key}`)).status).toBe(302)
        })
      )
    }

    it.effect(`${doing} it: who has no key is not told either whether there is one`, () =>
      Effect.map(ask("nothing", {}), (answer) => expectProblem(answer, "unauthorized"))
    )

    for (const [what, headers] of Object.entries(accepted)) {
      it.effect(`${doing} it, with the key as ${what}`, () =>
        Effect.gen(function* () {
          const created = yield* create({ url })
          const { key } = JSON.parse(created.text) as { key: string }
          expect((yield* ask(key, headers ?? {})).status).toBe(method === "GET" ? 200 : 204)
        })
      )
    }
  }
})
