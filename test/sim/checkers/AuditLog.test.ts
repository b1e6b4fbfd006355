import { describe, expect, it } from "vitest"
import { adminId } from "../../../src/accounts/Access.ts"
import type { AuditAction, AuditEvent, Doer } from "../../../src/model/Audit.ts"
import * as Iso8601 from "../../../src/model/Iso8601.ts"
import type { Exchange } from "../../../src/sim/History.ts"
import type { JournalEntry } from "../../../src/sim/Journal.ts"
import { AuditLog } from "../../../src/sim/checkers/users/AuditLog.ts"
import { oldEntries } from "../../../src/sim/deployment/Users.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { type AuditEntry, entriesPerHour, placesOf } from "../../../src/storage/accounts/AuditLog.ts"
import { evidence, exchange, row } from "../actors/Evidence.ts"

const by = "node-0#1"
const inSession = (userId: string): Doer => ({ by: "session", userId, keyId: null, client: null })
const event = (action: AuditAction, target: string, some: Partial<AuditEvent> = {}): AuditEvent => ({
  doer: inSession("usr_1"),
  action,
  target,
  owner: "usr_1",
  at: 1_000,
  ...some
})
const entryOf = (one: AuditEvent, count = 1): AuditEntry => ({ ...placesOf(one).first, count })
/** What is kept of the entries before the beginning. */
const kept = oldEntries(0)
  .slice(3)
  .map((one) => entryOf(one))
  .toReversed()

const keyAdded = event("key.added", "key_1")
const added = { tag: "key added", at_us: s_us, by, apiKey: "key_1", user: "usr_1" } as const
const audited = (at_s: number, ...events: ReadonlyArray<AuditEvent>) =>
  ({ tag: "audited", at_us: at_s * s_us, by, events }) as const
const swept = { tag: "audit swept", at_us: s_us, by } as const
const begun = { tag: "session begun", at_us: s_us, by, session: "ses", user: "usr_1" } as const
const bound = { tag: "bound", at_us: s_us, by, link: row } as const
const changed = exchange(2, { kind: "change", status: 200, location: undefined })
const linkChanged = event("link.changed", "abc", {
  doer: { by: "admin-key", userId: adminId, keyId: null, client: null },
  owner: null
})

const shownOf = ({ action, at, count, doer, id, owner, target }: AuditEntry) => ({
  id,
  at: Iso8601.formatMoment(at),
  count,
  action,
  ...doer,
  target,
  ownerId: owner
})
const read = (at_s: number, entries: ReadonlyArray<AuditEntry>, some: Partial<Exchange> = {}): Exchange =>
  exchange(at_s, {
    kind: "audit",
    key: undefined,
    status: 200,
    location: undefined,
    user: "usr_0",
    audit: {},
    since_us: at_s * s_us,
    body: JSON.stringify(entries.map(shownOf)),
    ...some
  })

const found = (
  audit: ReadonlyArray<AuditEntry>,
  journal: ReadonlyArray<JournalEntry>,
  exchanges: ReadonlyArray<Exchange> = []
) => AuditLog.check(evidence({ audit: [...audit, ...kept], journal, exchanges })).length

describe("the checker of the audit log", () => {
  const log = entryOf(keyAdded)
  const done = [added, audited(1, keyAdded)]

  it("finds nothing in what was done and is recorded, and is read as it is", () => {
    expect(found([log], [...done, swept], [read(2, [log, ...kept])])).toBe(0)
    expect(found([log], done, [read(0.5, kept)])).toBe(0)
    expect(found([entryOf(event("session.begun", "usr_1"), 2)], [begun, begun])).toBe(0)
    expect(found([entryOf(linkChanged)], [bound], [changed])).toBe(0)
    expect(found([log], done, [read(2, [], { user: "usr_1", status: 403 })])).toBe(0)
    const temporary = {
      tag: "password changed",
      at_us: 1,
      by: "an administrator",
      user: "usr_0",
      isTemporary: true,
      revokesKeys: false
    } as const
    expect(found([log], [...done, temporary], [read(2, [], { status: 403 })])).toBe(0)
    expect(
      found([log], done, [
        read(2, [log], { audit: { user: "usr_1" } }),
        read(2, [], { audit: { user: "usr_2" } })
      ])
    ).toBe(0)
    expect(AuditLog.check(evidence({ journal: [added] }))).toEqual([])
  })

  it("wants a removal to be done by those who asked for it, the user or an administrator", () => {
    const removed = { tag: "user removed", at_us: 2 * s_us, by, user: "usr_1" } as const
    const asking = (session?: string) =>
      exchange(2, { kind: "remove user", user: "usr_1", session, key: undefined, location: undefined })
    const own = entryOf(event("user.deleted", "usr_1", { doer: inSession("usr_1") }))
    const another = entryOf(event("user.deleted", "usr_1", { doer: inSession("usr_2") }))
    const deployments = entryOf(event("user.deleted", "usr_1", { doer: linkChanged.doer }))
    expect(found([own], [removed], [asking("ses")])).toBe(0)
    expect(found([deployments], [removed], [asking()])).toBe(0)
    expect(found([own], [removed], [asking("ses"), asking()])).toBe(0)
    expect(found([own], [removed], [asking()])).not.toBe(0)
    expect(found([deployments], [removed], [asking("ses")])).not.toBe(0)
    expect(found([another], [removed], [asking("ses")])).not.toBe(0)
  })

  it.each<readonly [string, ReadonlyArray<AuditEntry>, ReadonlyArray<JournalEntry>, ReadonlyArray<Exchange>]>(
    [
      ["an act that is not recorded", [], [added], []],
      ["an act that is recorded twice", [entryOf(keyAdded, 2)], done, []],
      ["a record of nothing", [log], [], []],
      ["an act that is recorded as of another", [entryOf({ ...keyAdded, owner: "usr_2" })], done, []],
      [
        "an act that is recorded as done by another",
        [entryOf({ ...keyAdded, doer: inSession("usr_2") })],
        done,
        []
      ],
      ["a change by an administrator that is not recorded", [], [bound], [changed]],
      [
        "a change that is recorded as of another",
        [entryOf({ ...linkChanged, owner: "usr_1" })],
        [bound],
        [changed]
      ],
      [
        "a refused sign-in that is not recorded",
        [],
        [],
        [exchange(2, { kind: "sign in", key: undefined, status: 401, location: undefined, user: "usr_1" })]
      ],
      ["an end of a session that there was not", [entryOf(event("session.ended", "usr_1"))], [], []],
      ["a list without an entry", [log], done, [read(2, kept)]],
      ["a list with an entry twice", [log], done, [read(2, [log, log, ...kept])]],
      ["a list out of order", [log], done, [read(2, [...kept, log])]],
      ["a list with an entry as it was not", [log], done, [read(2, [{ ...log, target: "key_2" }, ...kept])]],
      [
        "a list with an entry that nobody asked for",
        [log],
        done,
        [read(2, [log], { audit: { user: "usr_2" } })]
      ],
      ["a user who reads it", [log], done, [read(2, [log], { user: "usr_1" })]],
      ["an administrator who may not", [log], done, [read(2, [], { status: 403 })]],
      ["an old entry that stays", oldEntries(0).map((one) => entryOf(one)), [swept], []]
    ]
  )("finds %s", (_, audit, journal, exchanges) => {
    expect(found(audit, journal, exchanges)).toBeGreaterThan(0)
  })

  it("counts acts that are recorded without their target where a user has too many entries of an hour", () => {
    const { given } = placesOf(keyAdded)
    const crowded = given(entriesPerHour.user, 0)
    const changes = Array.from({ length: entriesPerHour.user }, (_, index) =>
      entryOf(event("link.changed", `key-${index}`, { owner: null }))
    )
    expect(found([...changes, crowded], done)).toBe(0)
    expect(found([...changes, { ...crowded, count: 2 }], done)).toBeGreaterThan(0)
    expect(found([...changes, crowded, log], done)).toBeGreaterThan(0)
    expect(found(changes, done)).toBeGreaterThan(0)
    expect(found([...changes.slice(1), crowded], done)).toBeGreaterThan(0)
    const linkCrowded = placesOf(linkChanged).given(entriesPerHour.user, 0)
    const ofAdmin = changes.map((entry) => ({ ...entry, doer: linkChanged.doer }))
    expect(found([...ofAdmin, linkCrowded], [bound], [changed])).toBe(0)
    expect(found([...ofAdmin.slice(1), linkCrowded], [bound], [changed])).toBeGreaterThan(0)
  })

  it("finds an entry that goes too early", () => {
    expect(AuditLog.check(evidence({ audit: kept.slice(1), journal: [swept] }))).not.toEqual([])
  })
})
