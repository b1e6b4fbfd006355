import { describe, expect, it } from "vitest"
import * as DatabaseServers from "../../../../src/storage/sql/postgres/DatabaseServers.ts"

const urls = ["postgresql://a/links", "postgresql://b/links"]
const [a, b] = urls as [string, string]

/** A proof of the first system's primary, of a timeline. */
const on = (timeline: string) => ({ system: "1", timeline })

describe("the servers that can be the primary", () => {
  it("begin another generation of connections with each promotion, and with nothing else that a primary proves", () => {
    const servers = DatabaseServers.make(urls)
    const generations = [on("00000001"), on("00000001"), on("00000002"), on("00000002"), on("0000000A")].map(
      (proof) => {
        expect(servers.proved(b, proof)).toBeUndefined()
        return servers.generation()
      }
    )
    expect(generations).toEqual([0, 0, 1, 1, 2])
    servers.dropAll()
    expect(servers.generation()).toBe(3)
  })

  it("are not worked on where they were left behind, or are another system, and drop nothing then", () => {
    const servers = DatabaseServers.make(urls)
    servers.proved(a, on("00000002"))
    expect(servers.proved(b, on("00000001"))).toContain("an old primary")
    expect(servers.proved(b, { ...on("00000003"), system: "2" })).toContain("another database system")
    expect(servers.generation()).toBe(0)
    expect(servers.current()).toBe(a)
    // Whoever may not know the system goes by timelines.
    expect(servers.proved(b, { ...on("00000003"), system: undefined })).toBeUndefined()
    expect(servers.generation()).toBe(1)
    expect(servers.current()).toBe(b)
  })

  it("are tried in turns: the one that is passed over only where it is current", () => {
    const servers = DatabaseServers.make(urls)
    servers.passOver(b)
    expect(servers.current()).toBe(a)
    servers.passOver(a)
    expect(servers.current()).toBe(b)
    servers.passOver(b)
    expect(servers.current()).toBe(a)
  })
})
