import { describe, expect, it } from "vitest"
import { formatMoment } from "../../../src/model/Iso8601.ts"
import type { Link } from "../../../src/model/Link.ts"
import { Quarantine } from "../../../src/sim/checkers/keys/Quarantine.ts"
import { Chosen } from "../../../src/sim/checkers/links/Chosen.ts"
import { Lists } from "../../../src/sim/checkers/links/Lists.ts"
import { Previews } from "../../../src/sim/checkers/links/Previews.ts"
import { Refusals } from "../../../src/sim/checkers/links/Refusals.ts"
import { RepeatedDeletes } from "../../../src/sim/checkers/links/RepeatedDeletes.ts"
import { Shown } from "../../../src/sim/checkers/links/Shown.ts"
import { Freshness } from "../../../src/sim/checkers/redirects/Freshness.ts"
import { ReadYourWrites } from "../../../src/sim/checkers/redirects/ReadYourWrites.ts"
import { ExactVisits } from "../../../src/sim/checkers/visits/ExactVisits.ts"
import type { Evidence } from "../../../src/sim/Evidence.ts"
import type { Exchange, ImportedWish } from "../../../src/sim/History.ts"
import type { JournalEntry } from "../../../src/sim/Journal.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { created, evidence, exchange, row } from "../actors/Evidence.ts"

const by = "node-0#1"
const bound = (some: Partial<Link> = {}, at_s = 1) =>
  ({ tag: "bound", at_us: at_s * s_us, by, link: { ...row, ...some } }) as const
/** How the link is after a change, which gave it a title of its own. */
const changedTo = (at_s: number, some: Partial<Link>) =>
  ({ tag: "changed", at_us: at_s * s_us, by, link: { ...row, title: "t", ...some } }) as const
const ended = (tag: "deleted" | "expired", at_s: number) =>
  ({ tag, at_us: at_s * s_us, by, key: "abc" }) as const
const freed = (at_s: number) => ({ tag: "freed", at_us: at_s * s_us, by, key: "abc", custom: true }) as const
const visited = (at_s: number) =>
  ({ tag: "visited", at_us: at_s * s_us, by, key: "abc", isSure: true }) as const
/** A change of when the link ends, or begins. */
const change = (some: Partial<Exchange>, status = 200) =>
  exchange(3, { kind: "change", status, location: undefined, choices: { title: "t" }, ...some })
const seconds = (count: number) => ({ months: 0, days: 0, seconds: count })
const run = (exchanges: Evidence["exchanges"], journal: ReadonlyArray<JournalEntry>) =>
  evidence({ exchanges, journal })

/** The link ended 5 s after the beginning by itself, and a change has it end 5 s later. */
const extended = [bound({ expiresAt: 5_000 }), changedTo(3, { expiresAt: 10_000 })]
const extending = change({ expiresAt: formatMoment(10_000) })

describe("A changed end of a link", () => {
  it.each([
    ["comes later than was chosen", { lasts: seconds(5) }, { expiresAt: 9_000 }],
    ["comes at another moment than was chosen", { expiresAt: formatMoment(10_000) }, { expiresAt: 9_000 }],
    ["is still there, and was to be taken away", { expiresAt: null }, { expiresAt: 5_000 }],
    ["was changed by a change of something else", {}, { expiresAt: 9_000 }]
  ])("is told if it %s", (_, asked, link) => {
    const journal = [bound({ expiresAt: 5_000 }), changedTo(3, link)]
    expect(Chosen.check(run([created(1, { lasts: seconds(4) }), change(asked)], journal))).toHaveLength(1)
  })

  it.each([
    [{ lasts: seconds(5) }, { expiresAt: 8_000 }],
    [{ expiresAt: formatMoment(10_000) }, { expiresAt: 10_000 }],
    [{ expiresAt: null }, { expiresAt: null }],
    [{}, { expiresAt: 5_000 }]
  ])("is as a change chose it: %j", (asked, link) => {
    const journal = [bound({ expiresAt: 5_000 }), changedTo(3, link)]
    expect(Chosen.check(run([created(1, { lasts: seconds(4) }), change(asked)], journal))).toEqual([])
  })

  it("is what redirects go by, a second after the change", () => {
    const asked = (at_s: number, status: number) => [created(1), extending, exchange(at_s, { status })]
    expect(ReadYourWrites.check(run(asked(7, 410), extended))).toHaveLength(1)
    expect(ReadYourWrites.check(run(asked(7, 302), extended))).toEqual([])
    expect(ReadYourWrites.check(run(asked(11, 410), extended))).toEqual([])
    expect(Freshness.check(run(asked(9, 302), extended))).toEqual([])
    expect(Freshness.check(run(asked(12, 302), extended))).toHaveLength(1)
    const shortened = [bound({ expiresAt: 50_000 }), changedTo(3, { expiresAt: 10_000 })]
    expect(Freshness.check(run(asked(12, 302), shortened))).toHaveLength(1)
    expect(Freshness.check(run(asked(3.5, 302), shortened))).toEqual([])
    const taken = [bound({ expiresAt: 5_000 }), changedTo(3, {})]
    expect(Freshness.check(run(asked(30, 302), taken))).toEqual([])
    expect(ReadYourWrites.check(run(asked(30, 410), taken))).toHaveLength(1)
  })

  it("is when it becomes a tombstone, and no earlier", () => {
    const until = (at_s: number) => [...extended, ended("expired", at_s), freed(40)]
    expect(Quarantine.check(run([], until(11)))).toEqual([])
    expect(Quarantine.check(run([], until(6)))).toHaveLength(1)
    expect(Quarantine.check(run([], extended))).toHaveLength(1)
    expect(Quarantine.check(run([], [bound({ expiresAt: 5_000 }), changedTo(3, {})]))).toEqual([])
  })

  it("may be what a delete has found", () => {
    const gone = exchange(12, { kind: "delete", status: 404, location: undefined })
    const journal = [bound(), changedTo(3, { expiresAt: 10_000 })]
    expect(RepeatedDeletes.check(run([created(1), gone], journal))).toEqual([])
    expect(RepeatedDeletes.check(run([created(1), gone], [bound()]))).toHaveLength(1)
  })

  it("is no reason to say that visits are used up", () => {
    const journal = [
      bound({ maxVisits: 3, visitsLeft: 3 }),
      changedTo(3, { maxVisits: 3, visitsLeft: 3, expiresAt: 10_000 })
    ]
    const asked = (at_s: number) => [created(1), exchange(at_s, { status: 410 })]
    expect(ExactVisits.check(run(asked(12), journal))).toEqual([])
    expect(ExactVisits.check(run(asked(8), journal))).toHaveLength(1)
  })

  it("is refused before the link begins, and not otherwise", () => {
    const late = bound({ validSince: 30_000 })
    const early = change({ lasts: seconds(5) }, 400)
    const refused = (asked: Exchange, link = late) => Refusals.check(run([created(1), asked], [link]))
    expect(refused(early)).toEqual([])
    expect(refused(early, bound())).toHaveLength(1)
    expect(refused(change({ lasts: seconds(40) }, 400))).toHaveLength(1)
    expect(refused(change({ expiresAt: formatMoment(20_000) }, 400))).toEqual([])
    expect(refused(change({ expiresAt: null }, 400))).toHaveLength(1)
    // One that the node may take for over.
    expect(refused(change({ expiresAt: formatMoment(3_001) }, 400), bound())).toEqual([])
  })

  it("is told where it was accepted before the link begins", () => {
    const begins = { validSince: 30_000 }
    const asked = [created(1), change({ lasts: seconds(5) })]
    const wrong = [bound(begins), changedTo(3, { ...begins, expiresAt: 8_000 })]
    expect(Refusals.check(run(asked, wrong))).toHaveLength(1)
    expect(
      Refusals.check(run(asked, [bound(begins), changedTo(3, { ...begins, expiresAt: 40_000 })]))
    ).toEqual([])
    // The node may have checked it by what the link was like before somebody else's change.
    const meanwhile = { ...bound(), tag: "changed", at_us: 2 * s_us, link: { ...row, ...begins } } as const
    expect(Refusals.check(run(asked, [bound(), meanwhile, wrong[1]!]))).toEqual([])
    const late = change({ choices: { title: "t", validSince: formatMoment(30_000) } })
    const ending = { expiresAt: 8_000 }
    const after = [bound(ending), changedTo(3, { ...ending, ...begins })]
    expect(Refusals.check(run([created(1), late], after))).toHaveLength(1)
    const both = created(1, { choices: { validSince: formatMoment(30_000) }, lasts: seconds(4) })
    expect(Refusals.check(run([both], [bound({ ...begins, expiresAt: 5_000 })]))).toHaveLength(1)
  })
})

const imported: ImportedWish = {
  createdAt: formatMoment(-9_000),
  updatedAt: formatMoment(-4_000),
  visits: 10,
  bots: 3,
  visitsLeft: 2
}
const importing = created(1, { imported, maxVisits: 5 })
const before: Partial<Link> = {
  createdAt: -9_000,
  updatedAt: -4_000,
  maxVisits: 5,
  visitsLeft: 2,
  importedVisits: { nonBots: 7, bots: 3 }
}
const shown = {
  ...row,
  shortUrl: "http://linkmint.test/abc",
  ...before,
  createdAt: imported.createdAt,
  updatedAt: imported.updatedAt,
  expiresAt: null,
  visits: { total: 0 },
  importedVisits: { total: 10, nonBots: 7, bots: 3 }
}
const showing = (some: object) =>
  exchange(4, { kind: "show", status: 200, location: undefined, body: JSON.stringify({ ...shown, ...some }) })

describe("A link that existed elsewhere", () => {
  it.each([
    ["another time of creation", { createdAt: 0 }],
    ["another time of its last change", { updatedAt: -9_000 }],
    ["other visits", { importedVisits: { nonBots: 3, bots: 7 } }],
    ["no visits", { importedVisits: undefined as never }],
    ["all visits left", { visitsLeft: 5 }]
  ])("is told with %s", (_, some) => {
    expect(Chosen.check(run([importing], [bound({ ...before, ...some })]))).toHaveLength(1)
  })

  it("has what it brought along, and the answer says so", () => {
    const answered = (some: object) => ({
      ...importing,
      choices: {},
      body: JSON.stringify({ ...shown, ...some })
    })
    const check = (some: object) =>
      Chosen.check(run([{ ...answered(some), choices: undefined }], [bound(before)]))
    expect(check({})).toEqual([])
    expect(check({ visitsLeft: 5 })).toHaveLength(1)
    expect(check({ createdAt: formatMoment(0) })).toHaveLength(1)
    expect(check({ importedVisits: { total: 10, nonBots: 10, bots: 0 } })).toHaveLength(1)
  })

  it("is over from the beginning, where it was there", () => {
    const over = created(1, { imported, maxVisits: 5, expiresAt: formatMoment(-1_000) })
    expect(Chosen.check(run([over], [bound({ ...before, expiresAt: -1_000 })]))).toEqual([])
    expect(Chosen.check(run([over], [bound(before)]))).toHaveLength(1)
  })

  it("is shown with that", () => {
    const check = (some: object) => Shown.check(run([importing, showing(some)], [bound(before)]))
    expect(check({})).toEqual([])
    expect(check({ createdAt: formatMoment(0) })).toHaveLength(1)
    expect(check({ updatedAt: formatMoment(0) })).toHaveLength(1)
    expect(check({ importedVisits: undefined })).toHaveLength(1)
    expect(check({ visitsLeft: 3 })).toHaveLength(1)
  })

  it("has only so many redirects as were left", () => {
    const led = [2, 3, 4].map((at_s) => exchange(at_s, {}))
    const check = (exchanges: ReadonlyArray<Exchange>) =>
      ExactVisits.check(run([importing, ...exchanges], [bound(before)]))
    expect(check(led.slice(1))).toEqual([])
    expect(check(led)).toHaveLength(1)
    expect(check([led[0]!, led[1]!, exchange(5, { status: 410 })])).toEqual([])
    expect(check([led[0]!, exchange(5, { status: 410 })])).toHaveLength(1)
  })

  it("is previewed with the visits that it brought along", () => {
    const preview = (visits: number) =>
      exchange(4, {
        kind: "preview",
        status: 200,
        location: undefined,
        body: JSON.stringify({ url: row.url, createdAt: imported.createdAt, visits })
      })
    const check = (visits: number) =>
      Previews.check(run([importing, preview(visits)], [bound(before), visited(2)]))
    expect(check(10)).toEqual([])
    expect(check(11)).toEqual([])
    expect(check(12)).toHaveLength(1)
  })

  it("has no visits of a former link that was made at the same moment", () => {
    const journal = [
      bound({ custom: true }),
      visited(2),
      ended("deleted", 3),
      freed(25),
      bound({ custom: true }, 30)
    ]
    const again = { ...showing({ ...row, createdAt: formatMoment(0), updatedAt: formatMoment(0) }) }
    const at_us = { sent_us: 40 * s_us, answered_us: 40 * s_us + 1_000 }
    const total = (count: number) => ({
      ...again,
      ...at_us,
      body: JSON.stringify({
        ...row,
        shortUrl: shown.shortUrl,
        custom: true,
        createdAt: formatMoment(0),
        updatedAt: formatMoment(0),
        expiresAt: null,
        visits: { total: count }
      })
    })
    expect(Shown.check(run([created(1), total(0)], journal))).toEqual([])
    expect(Shown.check(run([created(1), total(1)], journal))).toHaveLength(1)
  })

  it("may be on two pages of a list, if it was a former one on the first", () => {
    const of = { key: "abc", shown: { ...shown, createdAt: formatMoment(0), updatedAt: formatMoment(0) } }
    const plain = { ...of, shown: { ...of.shown, importedVisits: undefined, maxVisits: null } } as never
    const list = exchange(2, {
      kind: "list",
      location: undefined,
      key: undefined,
      since_us: 2 * s_us,
      answered_us: 50 * s_us,
      list: { archived: "any", orderBy: "createdAt-desc", limit: 1 },
      pages: { pages: [[plain], [plain]], isWhole: true, total: undefined }
    })
    const journal = [bound(), ended("deleted", 3), freed(25), bound({}, 30)]
    expect(Lists.check(run([list], journal))).toEqual([])
    expect(Lists.check(run([list], [bound()]))).toHaveLength(1)
  })
})
