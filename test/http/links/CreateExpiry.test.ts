import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { jsonOf } from "../../support/http/HttpClient.ts"
import { refuses } from "../../support/http/Problems.ts"
import { create, get, startOfTests_ms, TestService, withService } from "../../support/TestService.ts"

const url = "https://example.com/"

withService("a link's expiresAt", {}, (it) => {
  const kept: Record<string, readonly [sent: string, kept: string]> = {
    "in UTC": ["2027-01-01T00:00:00Z", "2027-01-01T00:00:00.000Z"],
    "in lower case": ["2027-01-01t00:00:00z", "2027-01-01T00:00:00.000Z"],
    "with an offset": ["2027-01-01T00:00:00+05:30", "2026-12-31T18:30:00.000Z"],
    "with an unknown local offset": ["2027-01-01T00:00:00-00:00", "2027-01-01T00:00:00.000Z"],
    "with milliseconds": ["2027-01-01T00:00:00.123Z", "2027-01-01T00:00:00.123Z"],
    "with nanoseconds, of which milliseconds are kept": [
      "2027-01-01T00:00:00.123999999Z",
      "2027-01-01T00:00:00.123Z"
    ],
    "on the 29th of February of a leap year": ["2028-02-29T12:00:00Z", "2028-02-29T12:00:00.000Z"],
    "one millisecond from now": ["2026-11-21T10:00:00.001Z", "2026-11-21T10:00:00.001Z"],
    "at the end of the year 9999": ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"]
  }
  for (const [what, [sent, expiresAt]] of Object.entries(kept)) {
    it.effect(`${what} is kept, in UTC`, () =>
      Effect.map(create({ url, expiresAt: sent }), (answer) => {
        expect(answer.status).toBe(201)
        expect(jsonOf(answer)).toMatchObject({ expiresAt })
      })
    )
  }

  const past: Record<string, string> = {
    now: "2026-11-21T10:00:00Z",
    "a millisecond ago": "2026-11-21T09:59:59.999Z",
    "now, in another offset": "2026-11-21T11:00:00+01:00",
    "in the year 0": "0000-01-01T00:00:00Z",
    "in the year 10000, by its offset": "9999-12-31T23:59:59-00:01"
  }
  for (const [what, expiresAt] of Object.entries(past)) {
    it.effect(`may not lie ${what}`, () =>
      refuses(create({ url, expiresAt }), "invalid-request", [
        "expiresAt",
        /^must lie in the future, before the year 10000$/
      ])
    )
  }

  const garbage = [
    "",
    "tomorrow",
    "2027",
    "2027-01-01",
    "2027-01-01T00:00Z",
    "2027-01-01T00:00:00",
    "2027-01-01 00:00:00Z",
    "2027-01-01T00:00:00 Z",
    "2027-01-01T00:00:00Z ",
    "2027-01-01T00:00:00Z\n",
    "2027-01-01T00:00:00.Z",
    "2027-01-01T00:00:00+0530",
    "2027-01-01T00:00:00+05",
    "2027-01-01T00:00:00+24:00",
    "2027-01-01T00:00:00+00:60",
    "2027-01-01T00:00:00[Europe/Berlin]",
    "2027-02-30T00:00:00Z",
    "2027-02-29T00:00:00Z",
    "2027-04-31T00:00:00Z",
    "2027-00-01T00:00:00Z",
    "2027-13-01T00:00:00Z",
    "2027-01-00T00:00:00Z",
    "2027-01-32T00:00:00Z",
    "2027-01-01T24:00:00Z",
    "2027-01-01T25:00:00Z",
    "2027-01-01T00:60:00Z",
    "2027-01-01T00:00:60Z",
    "2027-W01-1T00:00:00Z",
    "2027-001T00:00:00Z",
    "-2027-01-01T00:00:00Z",
    "10000-01-01T00:00:00Z",
    "+010000-01-01T00:00:00Z",
    "1800000000000",
    "P30D"
  ]
  for (const expiresAt of garbage) {
    it.effect(`may not be ${JSON.stringify(expiresAt)}`, () =>
      refuses(create({ url, expiresAt }), "invalid-request", ["expiresAt", "must be an RFC 3339 date-time"])
    )
  }

  it.effect("may not stand beside expiresIn", () =>
    refuses(create({ url, expiresAt: "2027-01-01T00:00:00Z", expiresIn: "P1D" }), "invalid-request", [
      "expiresIn",
      "cannot stand beside expiresAt"
    ])
  )
})

withService("a link's expiresIn", {}, (it) => {
  const kept: Record<string, string> = {
    P30D: "2026-12-21T10:00:00.000Z",
    PT10M: "2026-11-21T10:10:00.000Z",
    PT36H: "2026-11-22T22:00:00.000Z",
    P1M: "2026-12-21T10:00:00.000Z",
    P1W: "2026-11-28T10:00:00.000Z",
    P1Y2M3DT4H5M6S: "2028-01-24T14:05:06.000Z",
    "PT0.5S": "2026-11-21T10:00:00.500Z",
    "PT1,5S": "2026-11-21T10:00:01.500Z",
    "PT0.001S": "2026-11-21T10:00:00.001Z",
    "PT0.0015S": "2026-11-21T10:00:00.001Z",
    "P0.5D": "2026-11-21T22:00:00.000Z"
  }
  for (const [expiresIn, expiresAt] of Object.entries(kept)) {
    it.effect(`may be ${expiresIn}`, () =>
      Effect.map(create({ url, expiresIn }), (answer) => {
        expect(answer.status).toBe(201)
        expect(jsonOf(answer)).toMatchObject({ expiresAt })
      })
    )
  }

  const garbage = [
    "",
    "P",
    "PT",
    "P1",
    "PD",
    "P1DT",
    "30D",
    "p30d",
    "P30d",
    " P30D",
    "P30D\n",
    "-P1D",
    "P-1D",
    "+P1D",
    "P+1D",
    "P0D",
    "PT0S",
    "P0Y0M0DT0H0M0S",
    "PT0.0001S",
    "P1D1D",
    "P1D1Y",
    "P1H",
    "PT1D",
    "P1.2.3D",
    "P1e3D",
    "P0001-00-00T00:00:00",
    "2027-01-01T00:00:00Z",
    "forever",
    `P${"9".repeat(400)}D`,
    "30"
  ]
  for (const expiresIn of garbage) {
    it.effect(`may not be ${JSON.stringify(expiresIn.slice(0, 30))}`, () =>
      refuses(create({ url, expiresIn }), "invalid-request", [
        "expiresIn",
        "must be an ISO 8601 duration above zero"
      ])
    )
  }

  for (const expiresIn of ["P7974Y", "P99999999999Y", "PT99999999999999999999S"]) {
    it.effect(`may not lead beyond the year 9999: ${expiresIn}`, () =>
      refuses(create({ url, expiresIn }), "invalid-request", [
        "expiresIn",
        /^must end before the year 10000$/
      ])
    )
  }
})

withService("a link", {}, (it) => {
  it.effect("redirects until the moment of its expiry, and is gone from that moment on", () =>
    Effect.gen(function* () {
      const { clock } = yield* TestService
      yield* create({ url, alias: "until", expiresIn: "PT10S" })
      clock.set(startOfTests_ms + 9_999)
      expect((yield* get("/until")).status).toBe(302)
      clock.set(startOfTests_ms + 10_000)
      expect((yield* get("/until")).status).toBe(410)
      clock.set(startOfTests_ms)
    })
  )
})
