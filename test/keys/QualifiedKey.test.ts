import { describe, expect, it } from "vitest"
import { bucketOf, bucketOfName, bucketOfSubject } from "../../src/keys/Buckets.ts"
import { defaultDomain, domainKeyOf, plainKeyOf, qualifiedKey } from "../../src/keys/QualifiedKey.ts"
import { isAlias } from "../../src/model/Alias.ts"
import { subjectOfLink } from "../../src/model/Visit.ts"

describe("qualifiedKey", () => {
  it("is the key itself in the default domain", () => {
    expect(qualifiedKey({ domain: defaultDomain, key: "docs" })).toBe("docs")
    expect(domainKeyOf("docs")).toEqual({ domain: defaultDomain, key: "docs" })
    expect(plainKeyOf("docs")).toBe("docs")
  })

  it("has the number of every other domain behind the key", () => {
    expect(qualifiedKey({ domain: 12, key: "a_b-C" })).toBe("a_b-C~12")
    expect(domainKeyOf("a_b-C~12")).toEqual({ domain: 12, key: "a_b-C" })
    expect(plainKeyOf("a_b-C~12")).toBe("a_b-C")
  })

  it("is never a key of the default domain", () => {
    expect(isAlias(qualifiedKey({ domain: 1, key: "docs" }))).toBe(false)
  })

  it("keeps a link, its guards and its visits in the bucket of its key", () => {
    const bucket = bucketOf("docs")
    for (let domain = 1; domain <= 50; domain++) {
      const key = qualifiedKey({ domain, key: "docs" })
      expect(bucketOf(key)).toBe(bucket)
      expect(bucketOfName(`name@${key}`)).toBe(bucket)
      expect(bucketOfSubject(subjectOfLink({ key, createdAt: 1_700_000_000_000 }))).toBe(bucket)
    }
  })
})
