import { describe, expect, it } from "vitest"
import { bucketOf, bucketOfName, bucketOfSubject, defaultDomain } from "../../src/keys/Buckets.ts"
import { domainKeyOf, qualifiedKey } from "../../src/keys/QualifiedKey.ts"
import { isKeyShaped } from "../../src/http/contract/LinkSchemas.ts"
import { subjectOfLink } from "../../src/model/Visit.ts"

describe("qualifiedKey", () => {
  it("is the key itself in the default domain", () => {
    expect(qualifiedKey({ domain: defaultDomain, key: "docs" })).toBe("docs")
    expect(domainKeyOf("docs")).toEqual({ domain: defaultDomain, key: "docs" })
  })

  it("has the number of every other domain behind the key", () => {
    expect(qualifiedKey({ domain: 12, key: "a_b-C" })).toBe("a_b-C~12")
    expect(domainKeyOf("a_b-C~12")).toEqual({ domain: 12, key: "a_b-C" })
  })

  it("is never a key of the default domain", () => {
    expect(isKeyShaped(qualifiedKey({ domain: 1, key: "docs" }))).toBe(false)
  })

  it("keeps the guards and the visits of a link in the link's bucket", () => {
    for (let domain = 1; domain <= 50; domain++) {
      const key = qualifiedKey({ domain, key: "docs" })
      const bucket = bucketOf(defaultDomain, key)
      expect(bucketOfName(`name@${key}`)).toBe(bucket)
      expect(bucketOfSubject(subjectOfLink({ key, createdAt: 1_700_000_000_000 }))).toBe(bucket)
    }
  })
})
