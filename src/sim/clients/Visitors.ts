import type { Conditions } from "../../model/Rules.ts"
import { trustedProxy } from "../deployment/Visitors.ts"

/** What is known of a visitor by which rules can lead them: what docs/api.md says of such requests. */
export interface VisitorFacts {
  readonly device: NonNullable<Conditions["devices"]>[number]
  readonly os?: NonNullable<Conditions["os"]>[number]
  /** In lower case. */
  readonly language?: string
  readonly country?: string
  readonly address?: string
  readonly query?: { readonly name: string; readonly value: string }
  /** Whether they are shown pages rather than JSON. */
  readonly isPerson?: true
  /** Whether they draw previews of what links lead to. */
  readonly drawsPreviews?: true
}

interface Known {
  readonly facts: VisitorFacts
  readonly headers: Readonly<Record<string, string>>
  /** The address that their requests come from; none: the node's own machine. */
  readonly from?: string
}

const pages = "text/html,application/xhtml+xml,*/*;q=0.8"

/** Visitors, and how they are known. A program that says nothing of itself is a bot. */
const known = {
  German: {
    facts: { device: "bot", language: "de-at" },
    headers: { "accept-language": "de-AT,de;q=0.9,en;q=0.5" }
  },
  telephone: {
    facts: { device: "mobile", os: "Android", isPerson: true },
    headers: {
      accept: pages,
      "user-agent":
        "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36"
    }
  },
  reader: { facts: { device: "bot", query: { name: "from", value: "letter" } }, headers: {} },
  tablet: {
    facts: { device: "tablet", os: "iOS", language: "fr", isPerson: true },
    headers: {
      accept: pages,
      "accept-language": "en-GB;q=0.8, fr;q=0.9",
      "user-agent":
        "Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1"
    }
  },
  desk: {
    facts: { device: "desktop", os: "Windows", language: "de", isPerson: true },
    headers: {
      accept: pages,
      "accept-language": "de",
      "user-agent":
        "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36"
    }
  },
  Austrian: {
    facts: { device: "bot", country: "AT", address: "203.0.113.9" },
    headers: { "x-forwarded-for": "198.51.100.200, 203.0.113.9", "x-country": "at" },
    from: trustedProxy
  },
  neighbour: {
    facts: { device: "bot", address: "203.0.113.130" },
    // Nobody has said that they may be believed.
    headers: { "x-country": "at", "x-forwarded-for": "203.0.113.9" },
    from: "203.0.113.130"
  },
  crawler: {
    facts: { device: "bot", drawsPreviews: true },
    headers: { "user-agent": "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)" }
  }
} as const satisfies Readonly<Record<string, Known>>

/** A visitor of whom something is known. */
export type Visitor = keyof typeof known

/** All of them. */
export const allVisitors = Object.keys(known) as ReadonlyArray<Visitor>

/** Those who come where links are chosen little of. */
export const visitors = ["German", "telephone", "reader"] as const satisfies ReadonlyArray<Visitor>

const simple = {
  German: { languages: ["de"] },
  telephone: { devices: ["mobile"] },
  reader: { query: [{ name: "from", value: "letter" }] }
} as const satisfies Readonly<Record<(typeof visitors)[number], Conditions>>

/** The conditions of a rule that holds of one of {@link visitors} alone, as long as nobody else comes. */
export const whenOf = (visitor: (typeof visitors)[number]): Conditions => simple[visitor]

const nobody: VisitorFacts = { device: "bot" }

/** What is known of a visitor; `undefined`: of one who says nothing of themselves. */
export const factsOf = (visitor: Visitor | undefined): VisitorFacts =>
  visitor === undefined ? nobody : known[visitor].facts

/** What a visitor's request has by which they are known. */
export const signsOf = (visitor: Visitor | undefined): Pick<Known, "from" | "headers"> =>
  visitor === undefined ? { headers: {} } : known[visitor]

/** The query string of a visitor's request, with its question mark if there is one. `more`: what they ask for beside what they are known by. */
export const queryOf = (visitor: Visitor | undefined, more: string | undefined): string => {
  const { query } = factsOf(visitor)
  const all = [
    ...(query === undefined ? [] : [`${query.name}=${query.value}`]),
    ...(more === undefined ? [] : [more])
  ]
  return all.length === 0 ? "" : `?${all.join("&")}`
}
