import { hour_ms, orphanReasons } from "../../model/Visit.ts"
import * as Iso8601 from "../../model/Iso8601.ts"
import { hostOf } from "../deployment/FurtherDomains.ts"
import { adminKey } from "../deployment/StubServices.ts"
import type { Users } from "../deployment/Users.ts"
import type { StatisticsWish } from "../History.ts"
import type { Chance } from "../world/Chance.ts"
import type { World } from "../world/World.ts"
import { linkPathOf } from "./LinkRequests.ts"
import type { Requests } from "./Requests.ts"

/** How likely somebody without an API key asks, and else, where there are users, one of them; and how likely a user asks for those of all own links. */
const anybodyShare = 0.1
const userShare = 0.5
const allShare = 0.5

/** A time so many hours after the beginning of a run's first day. */
const hourOf = (beginning_ms: number, hour: number): string =>
  Iso8601.formatMoment((Math.floor(beginning_ms / (24 * hour_ms)) * 24 + hour) * hour_ms).replace(".000", "")

/** Both days in which a run may be; and hours of them at which other times begin and end: midnight, an hour of the run, and others. */
export const bothDays = (beginning_ms: number): readonly [from: string, to: string] => [
  hourOf(beginning_ms, 0),
  hourOf(beginning_ms, 48)
]
const beginnings_h = [0, 9.5, 23, 24] as const
const ends_h = [24, 24.75, 37, 48] as const

/** How likely another time than both days is asked for. */
const otherShare = 0.4

/** Where the statistics of all of a user's links are, or of visitors whom no link has led. */
const pathOf = (orphans: StatisticsWish["orphans"]): string => {
  if (orphans === undefined) return "/api/v1/stats"
  const { domain, reason } = orphans
  return `/api/v1/domains/${hostOf(domain)}/stats${reason === undefined ? "" : `?reason=${reason}`}`
}

/** How likely those are asked for of visitors whom no link of a domain has led, where there are further domains. */
const orphansShare = 0.4

/** Those who ask for statistics. */
export class Statistics {
  readonly #requests: Requests
  readonly #users: Users
  readonly #chance: Chance
  readonly #ranges: Chance
  readonly #strays: Chance
  readonly #domains: ReadonlyArray<number>
  readonly #beginning_ms: number

  /** `domains`: the numbers of further domains that stay. */
  constructor(world: World, requests: Requests, users: Users, domains: ReadonlyArray<number>) {
    this.#domains = domains
    this.#strays = world.chance("statistics of domains")
    this.#requests = requests
    this.#users = users
    this.#chance = world.chance("statistics")
    this.#ranges = world.chance("times of statistics")
    this.#beginning_ms = world.now_ms
  }

  /** Whether a turn of a client is one of theirs. */
  happens(share: number): boolean {
    return this.#chance.happens(share)
  }

  /** Asks for the statistics of a link that `popular` gives, or of all links of a user. */
  ask(
    client: string,
    popular: (chance: Chance) => string | undefined,
    done: () => void,
    as: StatisticsWish["as"] = this.#asker()
  ) {
    const chance = this.#chance
    const [from, to] = this.#range()
    const orphans = as === "administrator" ? this.#orphans() : undefined
    const statistics: StatisticsWish = {
      as,
      interval: chance.pick(["hour", "day"]),
      bots: chance.pick(["include", "exclude"]),
      format: chance.pick(["json", "json", "csv"]),
      from,
      to,
      ...(orphans !== undefined && { orphans })
    }
    const isOfAll = orphans !== undefined || (as === "user" && chance.happens(allShare))
    const key = isOfAll ? undefined : popular(chance)
    if (key === undefined && !isOfAll) return done()
    const apiKey = as === "user" ? this.#users.anyKeyOf(chance.pick(this.#users.names), chance) : undefined
    const path = key === undefined ? pathOf(orphans) : linkPathOf(key, "/stats")
    const { bots, format, interval } = statistics
    const query = `from=${from}&to=${to}&interval=${interval}&bots=${bots}&format=${format}`
    this.#requests.send(
      [{ client, kind: "statistics", key, apiKey, statistics, direct: chance.happens(0.5) }],
      {
        method: "GET",
        path: `${path}${path.includes("?") ? "&" : "?"}${query}`,
        headers: as === "anybody" ? {} : { "x-api-key": apiKey ?? adminKey }
      },
      ([exchange], answer) => {
        if (answer?.response.status === 200) exchange!.body = answer.response.body
        done()
      }
    )
  }

  /** A time that does not end before it begins. */
  #range(): readonly [from: string, to: string] {
    const beginning_ms = this.#beginning_ms
    if (!this.#ranges.happens(otherShare)) return bothDays(beginning_ms)
    const from_h = this.#ranges.pick(beginnings_h)
    const to_h = this.#ranges.pick(ends_h.filter((hour) => hour > from_h))
    return [hourOf(beginning_ms, from_h), hourOf(beginning_ms, to_h)]
  }

  #orphans(): StatisticsWish["orphans"] {
    const chance = this.#strays
    if (this.#domains.length === 0 || !chance.happens(orphansShare)) return undefined
    const reason = chance.happens(0.5) ? chance.pick(orphanReasons) : undefined
    return { domain: chance.pick(this.#domains), ...(reason !== undefined && { reason }) }
  }

  #asker(): StatisticsWish["as"] {
    if (this.#chance.happens(anybodyShare)) return "anybody"
    return this.#users.names.length > 0 && this.#chance.happens(userShare) ? "user" : "administrator"
  }
}
