import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { parse } from "../../../../src/storage/sql/postgres/DatabaseUrl.ts"

describe("DATABASE_URL", () => {
  it("names one server, or several with commas between them, each with its own port", () => {
    expect(parse("postgres://u:p@a/db")).toEqual(Either.right(["postgres://u:p@a/db"]))
    expect(
      parse("postgresql://u:p@a:1,b:2,[::1]:3/db?sslmode=require&target_session_attrs=read-write")
    ).toEqual(
      Either.right([
        "postgresql://u:p@a:1/db?sslmode=require",
        "postgresql://u:p@b:2/db?sslmode=require",
        "postgresql://u:p@[::1]:3/db?sslmode=require"
      ])
    )
    expect(parse("postgres://localhost")).toEqual(Either.right(["postgres://localhost"]))
  })

  it.each([
    ["mysql://a/db", "must be a postgres:// URL"],
    ["postgres://a,,b/db", "must name each host, between commas"],
    ["postgres://a:x,b/db", "must be a postgres:// URL, of one host or several with commas between them"],
    [`postgres://${Array(9).fill("a").join()}/db`, "must name 8 hosts at most"],
    [
      "postgres://a/db?target_session_attrs=standby",
      "must have a target_session_attrs of any, primary, read-write, since only the primary can be worked on"
    ]
  ])("%s is refused with a message that does not repeat it", (url, message) => {
    expect(parse(url)).toEqual(Either.left(message))
  })
})
