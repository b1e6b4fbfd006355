import { describe, expect, it } from "vitest"
import { linkRequestOf } from "../../../src/sim/clients/LinkRequests.ts"

describe("a request about a link", () => {
  it("may redirect where it is to show an alias of several segments, which is not there or has gone", () => {
    const linkOf = (key: string) => linkRequestOf({ client: "c", kind: "preview", key }).link
    expect(linkOf("events/2026~2")).toEqual({ key: "events/2026+~2" })
    expect(linkOf("events/2026")).toEqual({ key: "events/2026+" })
    expect(linkOf("abc")).toBeUndefined()
  })
})
