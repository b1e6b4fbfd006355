import { describe, expect, it } from "vitest"
import { Permissions } from "../../../src/sim/checkers/users/Permissions.ts"
import { hostOf } from "../../../src/sim/deployment/FurtherDomains.ts"
import { createdLinks } from "../../../src/sim/checkers/facts/lives.ts"
import { ReadYourWrites } from "../../../src/sim/checkers/redirects/ReadYourWrites.ts"
import { RepeatedDeletes } from "../../../src/sim/checkers/links/RepeatedDeletes.ts"
import type { Exchange } from "../../../src/sim/History.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { created, evidence, exchange, row, userKey } from "../actors/Evidence.ts"

const { secret, user } = userKey
const by = "node-0#1"
const boundBy = (owner: string) =>
  [{ tag: "bound", at_us: s_us, by, link: { ...row, owner } }] as const satisfies ReadonlyArray<object>
const made = created(1.1, { apiKey: secret })
/** A request by the API key about `abc`, which its user has made. */
const asked = (kind: Exchange["kind"], status: number, some: Partial<Exchange> = {}) =>
  exchange(10, { kind, status, apiKey: secret, user, location: undefined, ...some })

const found = (one: Exchange, some: object = {}) =>
  Permissions.check(
    evidence({ userKeys: [userKey], journal: boundBy(user), exchanges: [made, one], ...some })
  )

describe("The checker of permissions", () => {
  it("wants an API key to do what its scopes say, and nothing else", () => {
    const needed = [
      ["create", 201, ["links:write"]],
      ["show", 200, ["links:read"]],
      ["list", 200, ["links:read"]],
      ["change", 200, ["links:write"]],
      ["delete", 204, ["links:write"]],
      ["edit", 200, ["links:read", "links:write"]]
    ] as const
    for (const [kind, done, scopes] of needed) {
      const judged = (status: number, some: typeof userKey.scopes) =>
        found(asked(kind, status), {
          userKeys: [{ ...userKey, scopes: some }],
          exchanges: [asked(kind, status)]
        })
      expect(judged(done, scopes)).toEqual([])
      expect(judged(403, scopes)).toHaveLength(1)
      for (const missing of scopes) {
        const others = userKey.scopes.filter((scope) => scope !== missing)
        expect(judged(done, others)).toHaveLength(1)
        expect(judged(403, others)).toEqual([])
      }
    }
  })

  it("allows statistics of a link without the scope, since they may be public, and none of all links", () => {
    const narrow = { userKeys: [{ ...userKey, scopes: ["links:write"] as const }] }
    expect(found(asked("statistics", 200), narrow)).toEqual([])
    expect(found(asked("statistics", 200, { key: undefined }), narrow)).toHaveLength(1)
    expect(found(asked("statistics", 403, { key: undefined }), narrow)).toEqual([])
  })

  it("says nothing of what was not answered, of too many requests, nor of a key that has ended", () => {
    const narrow = { userKeys: [{ ...userKey, scopes: ["links:write"] as const }] }
    for (const status of [0, 401, 429, 503]) expect(found(asked("show", status), narrow)).toEqual([])
  })

  it("leaves others' links to others, and finds the user's own", () => {
    const others = { journal: boundBy("usr_1") }
    for (const [kind, done] of [
      ["change", 200],
      ["delete", 204]
    ] as const) {
      expect(found(asked(kind, done))).toEqual([])
      expect(found(asked(kind, 404))).toHaveLength(1)
      expect(found(asked(kind, done), others)).toHaveLength(1)
      expect(found(asked(kind, 404), others)).toEqual([])
    }
  })

  it("wants a refusal of what somebody may not ask for, with its own status", () => {
    const trespass = (status: number, some: Partial<Exchange>) =>
      exchange(10, {
        kind: "trespass",
        key: undefined,
        location: undefined,
        asked: "GET /api/v1/users",
        status,
        ...some
      })
    const stranger = { refusedWith: 401 } as const
    const program = { refusedWith: 403, apiKey: secret } as const
    expect(found(trespass(401, stranger))).toEqual([])
    expect(found(trespass(503, stranger))).toEqual([])
    expect(found(trespass(200, stranger))).toHaveLength(1)
    expect(found(trespass(403, stranger))).toHaveLength(1)
    expect(found(trespass(403, program))).toEqual([])
    // Whether it has ended is judged elsewhere.
    expect(found(trespass(401, program))).toEqual([])
    expect(found(trespass(404, program))).toHaveLength(1)
  })
})

describe("The checker of permissions, of domains", () => {
  const made = (domain: number, status: number, by: string | undefined) => {
    const key = { ...userKey, user: by ?? "nobody" }
    const asked = created(3, { domain, status, ...(by !== undefined && { apiKey: key.secret }) })
    return Permissions.check(evidence({ userKeys: [key], exchanges: [asked] }))
  }

  it("leaves creates in a domain of some users to these", () => {
    expect(made(3, 201, "usr_0")).toEqual([])
    expect(made(3, 403, "usr_0")).toHaveLength(1)
    expect(made(3, 201, "usr_1")).toHaveLength(1)
    expect(made(3, 403, "usr_1")).toEqual([])
    expect(made(3, 201, undefined)).toHaveLength(1)
    expect(made(3, 403, undefined)).toEqual([])
    expect(made(1, 403, "usr_1")).toHaveLength(1)
  })

  it("lists them for these, and for administrators", () => {
    const checked = (name: string, numbers: ReadonlyArray<number>) => {
      const asked = { kind: "domains", key: undefined, status: 200, location: undefined } as const
      const exchanges = [exchange(3, { ...asked, session: "ses", listed: numbers.map(hostOf) })]
      const begun = { tag: "session begun", at_us: s_us, by, session: "ses", user: name } as const
      return Permissions.check(evidence({ exchanges, journal: [begun] })).length
    }
    expect(checked("usr_2", [1, 2, 3])).toBe(0)
    expect(checked("usr_2", [1, 2])).toBe(1)
    expect(checked("usr_1", [1, 2])).toBe(0)
    expect(checked("usr_1", [1, 2, 3])).toBe(1)
    expect(checked("usr_0", [1, 3])).toBe(1)
  })
})

describe("Deletes by strangers", () => {
  const theirs = asked("delete", 404, { user: "usr_1", apiKey: "another" })
  const exchanges = [made, theirs]

  it("are none that find nothing where they should", () => {
    const strange = evidence({ journal: boundBy(user), exchanges })
    expect([...createdLinks(exchanges, strange.lives).values()][0]?.deletes).toBe(0)
    expect(ReadYourWrites.check(strange)).toEqual([])
    expect(RepeatedDeletes.check(strange)).toEqual([])
    const own = evidence({ journal: boundBy(user), exchanges: [made, asked("delete", 404)] })
    expect(ReadYourWrites.check(own)).toHaveLength(1)
    expect(RepeatedDeletes.check(own)).toHaveLength(1)
  })
})
