// Users, their sessions and their keys, as tests of the HTTP service make and use them.

import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { jsonOf, type Request } from "../http/HttpClient.ts"
import { adminKey, TestService } from "../TestService.ts"

/** A password that is long enough. */
export const password = "correct horse battery staple"

const json = { "content-type": "application/json" }

/** Sends a request whose body is JSON. */
export const post = (path: string, body: unknown, headers: Request["headers"] = {}) =>
  Effect.flatMap(TestService, (service) =>
    service.send({
      method: "POST",
      path,
      headers: { ...json, ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body)
    })
  )

/** Sends a request without a body. */
export const ask = (method: string, path: string, headers: Request["headers"] = {}) =>
  Effect.flatMap(TestService, (service) => service.send({ method, path, headers: headers ?? {} }))

/** As the administrator. */
export const asAdmin = { "x-api-key": adminKey }

let users = 0

/** Adds a user: their e-mail address. */
export const newUser = (headers: Request["headers"] = asAdmin) =>
  Effect.gen(function* () {
    const email = `user-${users++}@example.com`
    const answer = yield* post("/api/v1/users", { email, password }, headers)
    expect(answer.status).toBe(201)
    return { email, id: (jsonOf(answer) as { readonly id: string }).id }
  })

/** The cookie of a session that a response sets: its name and value, and its attributes. */
export const cookieOf = (setCookie: ReadonlyArray<string> | undefined) => {
  const ofSession = setCookie?.filter((cookie) => !cookie.includes("linkmint_device="))
  expect(ofSession).toHaveLength(1)
  const [pair = "", ...attributes] = ofSession![0]!.split("; ")
  return { pair, attributes: attributes.map((attribute) => attribute.toLowerCase()).toSorted() }
}

let clients = 0

/** A client that no other test has, where the service believes a proxy on this machine. */
export const newClient = () => {
  const number = clients++
  return { "x-forwarded-for": `198.18.${number >> 8}.${number & 255}` }
}

/** Signs in: the headers by which a request belongs to the session. */
export const signIn = (email: string, secret = password) =>
  Effect.gen(function* () {
    const answer = yield* post("/api/v1/session", { email, password: secret }, newClient())
    expect(answer.status).toBe(204)
    return { cookie: cookieOf(answer.headers["set-cookie"]).pair }
  })

/** Adds a user and signs in as them. */
export const newSession = Effect.gen(function* () {
  const user = yield* newUser()
  return { ...user, headers: yield* signIn(user.email) }
})

/** Makes an API key: its id, and the headers by which a request uses it. */
export const newKey = (body: object, headers: Request["headers"] = asAdmin) =>
  Effect.gen(function* () {
    const answer = yield* post("/api/v1/api-keys", { name: "a key", ...body }, headers)
    expect(answer.status).toBe(201)
    const { id, secret } = jsonOf(answer) as { readonly id: string; readonly secret: string }
    return { id, secret, headers: { "x-api-key": secret } }
  })
