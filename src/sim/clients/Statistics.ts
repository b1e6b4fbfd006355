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

/** Both days in which a run may be; and other times that begin and end at midnight, in the hours of the run, or in others. */
export const bothDays = ["2025-12-31T00:00:00Z", "2026-01-02T00:00:00Z"] as const
const beginnings = ["2025-12-31T09:30:00Z", "2025-12-31T23:00:00Z", "2026-01-01T00:00:00Z"] as const
const ends = ["2026-01-01T00:00:00Z", "2026-01-01T00:45:00Z", "2026-01-01T13:00:00Z"] as const

/** How likely another time than both days is asked for. */
const otherShare = 0.4

/** Those who ask for statistics. */
export class Statistics {
  readonly #requests: Requests
  readonly #users: Users
  readonly #chance: Chance
  readonly #ranges: Chance

  constructor(world: World, requests: Requests, users: Users) {
    this.#requests = requests
    this.#users = users
    this.#chance = world.chance("statistics")
    this.#ranges = world.chance("times of statistics")
  }

  /** Whether a turn of a client is one of theirs. */
  happens(share: number): boolean {
    return this.#chance.happens(share)
  }

  /** Asks for the statistics of a link that `popular` gives, or of all links of a user. */
  ask(client: string, popular: (chance: Chance) => string | undefined, done: () => void) {
    const chance = this.#chance
    const as = this.#asker()
    const [from, to] = this.#range()
    const statistics: StatisticsWish = {
      as,
      interval: chance.pick(["hour", "day"]),
      bots: chance.pick(["include", "exclude"]),
      format: chance.pick(["json", "json", "csv"]),
      from,
      to
    }
    const key = as === "user" && chance.happens(allShare) ? undefined : popular(chance)
    if (key === undefined && as !== "user") return done()
    const apiKey = as === "user" ? this.#users.apiKey(chance) : undefined
    const path = key === undefined ? "/api/v1/stats" : linkPathOf(key, "/stats")
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
    if (!this.#ranges.happens(otherShare)) return bothDays
    const from = this.#ranges.pick([bothDays[0], ...beginnings])
    return [from, this.#ranges.pick([...ends, bothDays[1]].filter((to) => to > from))]
  }

  #asker(): StatisticsWish["as"] {
    if (this.#chance.happens(anybodyShare)) return "anybody"
    return this.#users.names.length > 0 && this.#chance.happens(userShare) ? "user" : "administrator"
  }
}
