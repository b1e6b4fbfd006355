// What rules and variants add to the decision where a redirect leads: the CPU time of `decideRedirect` for a link without any, and for links with 20 rules of which none holds, so that all are asked,
// in nanoseconds. Prints one line of JSON with the medians of rounds in which the links take turns.

import { Option } from "effect"
import * as ClientAddress from "../../src/http/exchange/ClientAddress.ts"
import { decideRedirect } from "../../src/http/redirects/Redirect.ts"
import * as VisitorFacts from "../../src/http/redirects/rules/VisitorFacts.ts"
import type { Link } from "../../src/model/Link.ts"
import { rulesMax } from "../../src/model/RuleBounds.ts"
import type { Conditions, Routing } from "../../src/model/Rules.ts"
import { plainRow } from "../../test/support/Plain.ts"
import { firefox } from "../../test/support/samples/SomeVisits.ts"
import { testHash } from "../../test/support/TestHash.ts"
import { median } from "../Rounds.ts"

const rounds = Number(process.argv[2] ?? 15)
const perRound = 20_000

const leading = {
  targets: { faultOf: () => undefined },
  factsOf: VisitorFacts.makeWith({
    addresses: ClientAddress.make([]),
    countries: { header: "cf-ipcountry", of: ({ country }) => country },
    hash: testHash
  })
}

const request = {
  method: "GET",
  url: "/aZ3k9Qx",
  headers: {
    "user-agent": firefox,
    "accept-language": "de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7",
    "cf-ipcountry": "DE"
  },
  remoteAddress: Option.some("192.0.2.1")
}

const url = "https://example.com/a"

/** Rules with each of these conditions by turns: the last one of each is the one that fails. */
const failing = (all: ReadonlyArray<Conditions>): Routing => ({
  rules: Array.from({ length: rulesMax }, (_, index) => ({ url, when: all[index % all.length]! }))
})

const one = {
  language: { languages: ["fr", "it", "es"] },
  device: { devices: ["mobile", "tablet"] },
  country: { countries: ["FR", "IT", "ES"] },
  query: { query: [{ name: "ref" }] },
  network: { networks: ["198.51.100.0/24", "2001:db8::/32"] },
  hours: { hours: { timeZone: "Europe/Berlin", days: [6, 7], from: "09:00" } },
  all: {
    from: "2027-01-01T00:00:00.000Z",
    hours: { timeZone: "Europe/Berlin", until: "23:59" },
    devices: ["desktop"],
    os: ["Linux"],
    languages: ["de"],
    networks: ["192.0.2.0/24"],
    countries: ["FR"]
  }
} satisfies Record<string, Conditions>

const links: Readonly<Record<string, Routing | undefined>> = {
  none: undefined,
  languages: failing([one.language]),
  mixed: failing([one.language, one.device, one.country, one.query, one.network, one.hours]),
  "seven conditions each": failing([one.all]),
  "two variants": { variants: [1, 1].map((weight) => ({ url, weight })) },
  "mixed, and two variants": {
    ...failing([one.language, one.device, one.country, one.query, one.network, one.hours]),
    variants: [1, 1].map((weight) => ({ url, weight }))
  }
}

const linkOf = (extras: Routing | undefined): Link => ({
  ...plainRow,
  key: "aZ3k9Qx",
  url,
  custom: false,
  createdAt: 1_700_000_000_000,
  updatedAt: 1_700_000_000_000,
  ...(extras !== undefined && { extras })
})

const start = Date.parse("2027-03-03T12:00:00Z")
let redirected = 0

/** Nanoseconds of one decision. */
const timeOf = (link: Link): number => {
  const begun = process.cpuUsage()
  for (let n = 0; n < perRound; n++) {
    if (decideRedirect(link, request, start + n, leading).kind === "redirect") redirected++
  }
  const { system, user } = process.cpuUsage(begun)
  return (1_000 * (system + user)) / perRound
}

const all = Object.entries(links).map(([name, routing]) => ({
  name,
  link: linkOf(routing),
  times: [] as Array<number>
}))
for (let round = -3; round < rounds; round++) {
  for (const { link, times } of all) {
    const time = timeOf(link)
    // The first rounds warm up.
    if (round >= 0) times.push(time)
  }
}
if (redirected !== (rounds + 3) * perRound * all.length) throw new Error("A decision was no redirect")
process.stdout.write(
  `${JSON.stringify(Object.fromEntries(all.map(({ name, times }) => [name, Math.round(median(times))])))}\n`
)
