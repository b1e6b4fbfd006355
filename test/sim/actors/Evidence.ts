// Runs that never happened, for the checkers to judge.

import type { Link } from "../../../src/model/Link.ts"
import type { Evidence } from "../../../src/sim/Evidence.ts"
import type { UserKey } from "../../../src/sim/deployment/Users.ts"
import type { Exchange } from "../../../src/sim/History.ts"
import { livesOf } from "../../../src/sim/checkers/facts/lives.ts"
import { presets } from "../../../src/sim/presets/Presets.ts"
import { recordOf } from "../../../src/sim/stores/database/DatabaseClock.ts"
import { SessionFigures } from "../../../src/sim/stores/database/SessionFigures.ts"
import { s_us } from "../../../src/sim/world/Time.ts"
import { plainRow } from "../../support/Plain.ts"

/** A request that was answered at once, unless said otherwise. `at_s`: virtual seconds. */
export const exchange = (at_s: number, some: Partial<Exchange>): Exchange => ({
  number: 0,
  client: "client-0",
  kind: "redirect",
  key: "abc",
  sent_us: at_s * s_us,
  begun_us: some.sent_us ?? at_s * s_us,
  answered_us: at_s * s_us + 1_000,
  status: 302,
  location: "https://example.com/1",
  told: undefined,
  manner: undefined,
  body: undefined,
  isReplay: false,
  listed: undefined,
  pages: undefined,
  edited: undefined,
  answeredBy: "node-0#1",
  sentTo: undefined,
  tries: 1,
  ...some
})

/** A create of `abc` that was acknowledged. */
export const created = (at_s: number, some: Partial<Exchange> = {}): Exchange =>
  exchange(at_s, { kind: "create", status: 201, url: "https://example.com/1", location: undefined, ...some })

/** The row of `abc`. */
export const row: Link = {
  ...plainRow,
  key: "abc",
  url: "https://example.com/1",
  custom: false,
  createdAt: 0,
  updatedAt: 0
}

/** An API key of a user, which may create. */
export const userKey: UserKey = {
  id: "key_0",
  secret: "secret",
  user: "usr_0",
  added_us: 0,
  expires_us: Infinity,
  scopes: ["links:read", "links:write", "stats:read"],
  revoking_us: Infinity,
  revoked_us: Infinity
}

/** A run of a minute in which nothing failed and everything is as it should be, but for what is said otherwise. */
export const evidence = (some: Partial<Omit<Evidence, "lives">>): Evidence => {
  const { journal = [{ tag: "bound", at_us: s_us, by: "node-0#1", link: row }] } = some
  return { ...uneventful, ...some, journal, lives: livesOf(journal) }
}

/** Of no visits it is said that they were dropped. */
export const noVisitsShed: Evidence["visitsShed"] = { full: 0, unwritten: 0, stopped: 0, broken: 0 }

const uneventful: Omit<Evidence, "journal" | "lives"> = {
  options: presets.calm(),
  exchanges: [],
  unfinished_us: undefined,
  tasksMax: 1_000_000,
  healed_us: 40 * s_us,
  end_us: 60 * s_us,
  beginning_ms: 0,
  faults: new Map(),
  strikes: [],
  silences: [],
  aways: [],
  sessions: new SessionFigures(),
  clock: recordOf([], 0),
  listenings: [],
  homes: () => new Set([0]),
  row: (key) => (key === row.key ? row : null),
  pooled: new Set(),
  recorded: new Set(),
  stocked: new Set(),
  leaving: new Set(),
  buffered: new Set(),
  visitsShed: noVisitsShed,
  met: new Map(),
  operations: new Set(),
  userKeys: [],
  domainChanges: [],
  compared: undefined,
  undelivered: new Set(),
  waitingFor: new Set(),
  audit: undefined,
  open: [],
  asideLost: 0,
  unready: [],
  storedKeys: { table: 0, status: 0, "two-table": 0, file: 0 },
  calls: new Map(),
  mint: () => ["abc", "k"]
}
