import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { type KnownCaller, type Scope, scopes } from "../../../src/accounts/Access.ts"
import * as Caller from "../../../src/http/exchange/Caller.ts"

const caller = (...granted: ReadonlyArray<Scope>): KnownCaller => ({
  userId: "usr_1",
  isAdmin: granted.includes("admin"),
  scopes: new Set(granted),
  keyId: "key_1",
  limits: { createsPerMinute: null, redirectsPerDay: null }
})

const kindOf = (result: Either.Either<unknown, { readonly kind: string }>) =>
  Either.match(result, { onLeft: ({ kind }) => kind, onRight: () => "passes" })

describe("a scope", () => {
  it.each(scopes)("%s lets those pass who have it, and the administrator", (scope) => {
    expect(kindOf(Caller.requireScope(caller(scope), scope))).toBe("passes")
    expect(kindOf(Caller.requireScope(caller("admin"), scope))).toBe("passes")
  })

  it.each(scopes)("%s is not had by the anonymous, nor by who has all others but admin", (scope) => {
    expect(kindOf(Caller.requireScope("anonymous", scope))).toBe("unauthorized")
    const others = scopes.filter((other) => other !== scope && other !== "admin")
    expect(kindOf(Caller.requireScope(caller(...others), scope))).toBe("forbidden")
  })
})

describe("what somebody made", () => {
  it("is the owner's, and the administrators'", () => {
    expect(Caller.mayManage(caller("links:read"), "usr_1")).toBe(true)
    expect(Caller.mayManage(caller("links:read"), "usr_2")).toBe(false)
    expect(Caller.mayManage(caller("admin"), "usr_2")).toBe(true)
  })

  it("is the administrators' alone where the owner was anonymous", () => {
    expect(Caller.ownerOf("anonymous")).toBeNull()
    expect(Caller.mayManage(caller("links:read"), null)).toBe(false)
    expect(Caller.mayManage(caller("admin"), null)).toBe(true)
  })
})
