import { KnownDomains } from "../../../src/http/domains/Domains.ts"
import { describe, expect, it } from "@effect/vitest"
import { Either, Option } from "effect"
import { type Creator, plainDraftOf, planCreate } from "../../../src/http/links/CreatePlan.ts"
import { plainDraft } from "../../support/Plain.ts"

const now = 1_700_000_000_000
const url = "https://example.com/"

const anonymous: Creator = {
  owner: null,
  keyLimit: {},
  policy: {
    own: { baseUrl: new URL("https://lm.example"), port: 443 },
    targets: { faultOf: () => undefined },
    defaultExpiry: Option.none(),
    domains: new KnownDomains()
  },
  idempotencyKey: undefined
}

const user: Creator = {
  ...anonymous,
  owner: "usr_1",
  keyLimit: { keyId: "key_1", keyRedirectsPerDay: 5 }
}

describe("the plan of a create", () => {
  it("has a whole draft, with its owner and the limit of the key that made it", () => {
    const { link, repeats } = planCreate({ url, expiresIn: "PT1S", tags: ["a", "a"] }, user, now)
    const draft = {
      ...plainDraft,
      url,
      tags: ["a"],
      expiresAt: now + 1_000,
      owner: "usr_1",
      keyId: "key_1",
      keyRedirectsPerDay: 5
    }
    expect(link).toEqual(Either.right({ draft, password: null, mayReuse: false }))
    expect(repeats).toBeNull()
  })

  it("lets owners reuse their links, and nobody else", () => {
    const mayReuse = (creator: Creator) =>
      Either.map(planCreate({ url, reuse: true }, creator, now).link, (link) => link.mayReuse)
    expect(mayReuse(user)).toEqual(Either.right(true))
    expect(mayReuse(anonymous)).toEqual(Either.right(false))
  })

  it("has what its repeats are known by, also where the body is refused", () => {
    const keyed = { ...user, idempotencyKey: "once" }
    const body = { url: "nowhere" }
    const { link, repeats } = planCreate(body, keyed, now)
    expect(repeats).toEqual({ key: "once", owner: "usr_1", body: JSON.stringify(body) })
    expect(link).toMatchObject({ left: { kind: "invalid-url" } })
  })

  it("is plain where it needs nothing but a minted key", () => {
    const isPlain = (body: object, creator: Creator = user) =>
      plainDraftOf(planCreate({ url, ...body }, creator, now)) !== undefined
    expect(isPlain({})).toBe(true)
    expect(isPlain({ reuse: true }, anonymous)).toBe(true)
    expect(isPlain({ reuse: true })).toBe(false)
    expect(isPlain({ alias: "mine" })).toBe(false)
    expect(isPlain({ password: "geheim" })).toBe(false)
    expect(isPlain({ url: 7 })).toBe(false)
    expect(isPlain({}, { ...user, idempotencyKey: "once" })).toBe(false)
  })
})
