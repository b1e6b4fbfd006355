import { describe, expect, it } from "vitest"
import { summary } from "./Backends.ts"

describe("the last line of a test run", () => {
  it("names the backends that were used, in a fixed order, with their versions", () => {
    const exercised = { PostgreSQL: "15.18 (docker, postgres:15)", SQLite: "3.44.0 (libSQL)", memory: "" }
    expect(summary(exercised, {})).toBe(
      "backends: memory · SQLite 3.44.0 (libSQL) · PostgreSQL 15.18 (docker, postgres:15)"
    )
  })

  it("says why a backend is missing, and leaves out one that is there but that no test used", () => {
    expect(summary({ memory: "" }, { PostgreSQL: "no programs" })).toBe(
      "backends: memory · PostgreSQL MISSING (no programs)"
    )
    expect(summary({}, {})).toBe("backends: none")
  })
})
