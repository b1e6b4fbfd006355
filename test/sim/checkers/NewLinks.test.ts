import { describe, expect, it } from "vitest"
import { adminId } from "../../../src/accounts/Access.ts"
import { formatMoment } from "../../../src/model/Iso8601.ts"
import type { Link } from "../../../src/model/Link.ts"
import { Chosen } from "../../../src/sim/checkers/links/Chosen.ts"
import { Previews } from "../../../src/sim/checkers/links/Previews.ts"
import { Shown } from "../../../src/sim/checkers/links/Shown.ts"
import { Answers } from "../../../src/sim/checkers/redirects/Answers.ts"
import { countedOf } from "../../../src/sim/clients/Traits.ts"
import type { Exchange } from "../../../src/sim/History.ts"
import type { JournalEntry } from "../../../src/sim/Journal.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { created, evidence, exchange, row, userKey as key } from "../actors/Evidence.ts"

const by = "node-0#1"
const bound = (some: Partial<Link> = {}) =>
  ({ tag: "bound", at_us: s_us, by, link: { ...row, ...some } }) as const
const begun = {
  tag: "session begun",
  at_us: 1,
  by,
  session: "digest",
  user: "usr_1"
} as never as JournalEntry

describe("A new link", () => {
  const found = (some: Partial<Exchange>, link: Partial<Link>, userKey: object = key) =>
    Chosen.check(
      evidence({
        exchanges: [created(1, some)],
        journal: [begun, bound(link)],
        userKeys: [userKey as typeof key]
      })
    )

  it("belongs to the user, the administrator or nobody, as it was asked for", () => {
    expect(found({}, { owner: null })).toEqual([])
    expect(found({}, { owner: "usr_0" })).toHaveLength(1)
    expect(found({ apiKey: "secret" }, { owner: "usr_0" })).toEqual([])
    expect(found({ apiKey: "secret" }, { owner: null })).toHaveLength(1)
    expect(found({ session: "digest" }, { owner: "usr_1" })).toEqual([])
    expect(found({ session: "digest" }, { owner: "usr_0" })).toHaveLength(1)
    expect(found({ isByAdmin: true }, { owner: adminId })).toEqual([])
    expect(found({ isByAdmin: true }, { owner: null })).toHaveLength(1)
  })

  it("has the quota of the API key that made it", () => {
    const limited = { ...key, redirectsPerDay: 5 }
    const right = { owner: "usr_0", keyId: "key_0", keyRedirectsPerDay: 5 }
    expect(found({ apiKey: "secret" }, right, limited)).toEqual([])
    expect(found({ apiKey: "secret" }, { owner: "usr_0" }, limited)).toHaveLength(1)
    expect(found({ apiKey: "secret" }, { ...right, keyRedirectsPerDay: 10 }, limited)).toHaveLength(1)
    expect(found({ apiKey: "secret" }, right)).toHaveLength(1)
  })

  it("has the alias that was chosen, and no other, in the domain that was chosen", () => {
    expect(found({ alias: "abc" }, { custom: true })).toEqual([])
    expect(found({ alias: "abcd" }, { custom: true })).toHaveLength(1)
    expect(found({ alias: "abc" }, { custom: false })).toHaveLength(1)
    expect(found({}, { custom: true })).toHaveLength(1)
    expect(found({ domain: 2 }, {})).toHaveLength(1)
    expect(found({ domain: 2, key: "abc~2" }, { key: "abc~2" })).toEqual([])
    expect(found({ key: "abc~2" }, { key: "abc~2" })).toHaveLength(1)
  })
})

describe("What is told of a link", () => {
  const previewing = (at_s: number) =>
    exchange(at_s, {
      kind: "preview",
      status: 200,
      location: undefined,
      body: JSON.stringify({ url: row.url, createdAt: formatMoment(row.createdAt), visits: 0 })
    })

  it("is a preview only where it leads somewhere", () => {
    const found = (at_s: number, link: Partial<Link>) =>
      Previews.check(evidence({ exchanges: [created(1), previewing(at_s)], journal: [bound(link)] }))
    expect(found(4, { expiresAt: 9_000 })).toEqual([])
    expect(found(9.5, { expiresAt: 9_000 })).toEqual([])
    expect(found(11, { expiresAt: 9_000 })).toHaveLength(1)
    expect(found(4, { validSince: 9_000 })).toHaveLength(1)
    expect(found(10, { validSince: 9_000 })).toEqual([])
  })

  const showing = (some: object) =>
    exchange(10, {
      kind: "show",
      status: 200,
      location: undefined,
      body: JSON.stringify({
        ...row,
        shortUrl: "http://linkmint.test/abc",
        createdAt: formatMoment(0),
        updatedAt: formatMoment(0),
        expiresAt: null,
        visits: { total: 0, nonBots: 0, bots: 0 },
        ...some
      })
    })
  const visited = (visitor: "telephone" | undefined) =>
    ({
      tag: "visited",
      at_us: 3 * s_us,
      by,
      key: "abc",
      isSure: true,
      counted: countedOf(undefined, visitor)
    }) as const
  const found = (some: object, ...journal: ReadonlyArray<JournalEntry>) =>
    Shown.check(evidence({ exchanges: [created(1), showing(some)], journal: [bound(), ...journal] }))

  it("has the short URL that is given out, and says whether it was chosen", () => {
    expect(found({})).toEqual([])
    expect(found({ shortUrl: "http://domain-1.test/abc" })).toHaveLength(1)
    expect(found({ custom: true })).toHaveLength(1)
  })

  it("has the visits of people and those of bots apart", () => {
    const both = [visited("telephone"), visited(undefined)]
    expect(found({ visits: { total: 2, nonBots: 1, bots: 1 } }, ...both)).toEqual([])
    expect(found({ visits: { total: 2, nonBots: 2, bots: 0 } }, ...both)).toHaveLength(1)
    expect(found({ visits: { total: 2, nonBots: 0, bots: 2 } }, ...both)).toHaveLength(1)
    expect(found({ visits: { total: 2, nonBots: 1, bots: 0 } }, ...both)).toHaveLength(1)
  })

  it("is kept by no cache where it redirects", () => {
    const led = (cacheControl: string | undefined, some: Partial<Exchange> = {}, status = 302) =>
      Answers.check(
        evidence({
          exchanges: [
            created(1),
            exchange(3, {
              manner: { status, vary: undefined, isIndexed: false, cacheControl, form: undefined },
              ...some
            })
          ]
        })
      )
    expect(led("private, max-age=0")).toEqual([])
    expect(led("public, max-age=31536000")).toHaveLength(1)
    expect(led(undefined)).toHaveLength(1)
    expect(led("no-store", { password: "open sesame" }, 303)).toEqual([])
    expect(led("private, max-age=0", { password: "open sesame" }, 303)).toHaveLength(1)
  })
})
