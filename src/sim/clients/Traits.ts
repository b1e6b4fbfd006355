import { Struct } from "effect"
import type { Dimension } from "../../model/Visit.ts"
import type { Chance } from "../world/Chance.ts"
import { countryHeader, trustedProxy } from "../deployment/Visitors.ts"
import type { Visitor } from "./Visitors.ts"

/** How a visit must be counted: its value in the dimensions in which it has one, and which visitor it is of, unless it is a bot's. */
export interface Counted {
  readonly isBot: boolean
  readonly values: Readonly<Partial<Record<Dimension, string>>>
  readonly visitor: string | undefined
}

type Headers = Readonly<Record<string, string>>

/** Something of a request by which its visit is counted. */
interface Trait {
  readonly headers?: Headers
  /** Parameters of the short URL. */
  readonly query?: string
  readonly values: Counted["values"]
}

const bot = { browsers: "bot", os: "bot", devices: "bot" } as const

/** What requests say that they are; without a word a bot. None is a telephone, of which rules know something. */
const agents = {
  none: { values: bot },
  crawler: {
    headers: { "user-agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)" },
    values: bot
  },
  firefox: {
    headers: { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0" },
    values: { browsers: "Firefox", os: "Linux", devices: "desktop" }
  },
  tablet: {
    headers: {
      "user-agent":
        "Mozilla/5.0 (iPad; CPU OS 12_2 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/12.1 Mobile/15E148 Safari/604.1"
    },
    values: { browsers: "Safari", os: "iOS", devices: "tablet" }
  }
} as const satisfies Readonly<Record<string, Trait>>

/** What visitors are counted as who are known by their `User-Agent`. */
const knownAgents: Readonly<Partial<Record<Visitor, Counted["values"]>>> = {
  telephone: { browsers: "Chrome", os: "Android", devices: "mobile" },
  desk: { browsers: "Chrome", os: "Windows", devices: "desktop" }
}

const referrers = {
  none: { values: { referrers: "direct" } },
  here: { headers: { referer: "http://linkmint.test/app/" }, values: { referrers: "internal" } },
  news: {
    headers: { referer: "https://News.example/today?reader=4711" },
    values: { referrers: "news.example" }
  },
  nowhere: { headers: { referer: "https://192.0.2.1/" }, values: {} }
} as const satisfies Readonly<Record<string, Trait>>

const campaigns = {
  none: { values: {} },
  letter: {
    query: "utm_source=letter&utm_medium=email&utm_campaign=%3Dspring",
    values: { utmSources: "letter", utmMediums: "email", utmCampaigns: "=spring" }
  },
  shop: { query: "utm_source=%20shop%20&utm_medium=&utm_campaign=other", values: { utmSources: "shop" } }
} as const satisfies Readonly<Record<string, Trait>>

/** The addresses that visitors have, with what they are told apart by. These are of a node's own machine, so that no limit counts them. */
const ownAddresses = { "127.0.0.2": "one", "127.0.0.3": "another", "127.0.0.4": "a third" } as const

/** These are not: in a network of IPv6 clients change their addresses. */
const addresses = {
  ...ownAddresses,
  "2001:db8:1:1::1": "a network",
  "2001:db8:1:1:ffff::1": "a network",
  "2001:db8:1:2::1": "another network",
  "2001:db8:2:1::1": "a third network"
} as const

const countries = {
  none: { values: { countries: "unknown" } },
  unknown: { headers: { [countryHeader]: "XX" }, values: { countries: "unknown" } },
  germany: { headers: { [countryHeader]: "de" }, values: { countries: "DE" } }
} as const satisfies Readonly<Record<string, Trait>>

/** What is counted of a visitor. */
export interface Traits {
  readonly agent: keyof typeof agents
  readonly referrer: keyof typeof referrers
  readonly campaign: keyof typeof campaigns
  readonly address: keyof typeof addresses
  /** Of one who comes by the trusted proxy. */
  readonly country?: keyof typeof countries | undefined
}

const [agentNames, referrerNames, campaignNames, countryNames, ownNames, addressNames] = [
  Struct.keys(agents),
  Struct.keys(referrers),
  Struct.keys(campaigns),
  Struct.keys(countries),
  Struct.keys(ownAddresses),
  Struct.keys(addresses)
]

/** How likely a visitor comes by the proxy. */
const byProxyShare = 0.5

/** Somebody. `byProxy`: whether nobody's look-ups are counted, so that some come by a proxy, and from elsewhere. */
export const someTraits = (chance: Chance, byProxy: boolean): Traits => ({
  agent: chance.pick(agentNames),
  referrer: chance.pick(referrerNames),
  campaign: chance.pick(campaignNames),
  address: chance.pick(byProxy ? addressNames : ownNames),
  country: byProxy && chance.happens(byProxyShare) ? chance.pick(countryNames) : undefined
})

const traitsOf = ({ agent, campaign, country, referrer }: Traits): ReadonlyArray<Trait> => [
  agents[agent],
  referrers[referrer],
  campaigns[campaign],
  countries[country ?? "none"]
]

/** What a request has of such a visitor, who may be one of whom rules know something, and where it comes from. */
export const requestOf = (
  traits: Traits
): { readonly headers: Headers; readonly query: ReadonlyArray<string>; readonly from: string } => {
  const all = traitsOf(traits)
  const { address, country } = traits
  return {
    headers: {
      ...Object.assign({}, ...all.map(({ headers }) => headers)),
      ...(country !== undefined && { "x-forwarded-for": `192.0.2.99, ${address}` })
    },
    query: all.flatMap(({ query }) => (query === undefined ? [] : [query])),
    from: country === undefined ? address : trustedProxy
  }
}

/** How a request must be counted of which nothing is known. */
const plain: Counted = {
  isBot: true,
  values: { ...bot, referrers: "direct", countries: "unknown" },
  visitor: undefined
}

const known = new Map<string, Counted>()

/** How the visit of a visitor must be counted, by what docs/api.md says. */
export const countedOf = (traits: Traits | undefined, visitor: Visitor | undefined): Counted => {
  const name = `${JSON.stringify(traits)} ${visitor}`
  const present = known.get(name)
  if (present !== undefined) return present
  const knownAgent = visitor && knownAgents[visitor]
  const values = {
    ...(traits === undefined
      ? plain.values
      : Object.assign({}, ...traitsOf(traits).map((one) => one.values))),
    ...knownAgent
  }
  const isBot = values.browsers === bot.browsers
  const agent = knownAgent === undefined ? traits?.agent : visitor
  const counted = {
    isBot,
    values,
    visitor: isBot ? undefined : `${agent} at ${traits && addresses[traits.address]}`
  }
  known.set(name, counted)
  return counted
}
