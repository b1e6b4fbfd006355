// What the pictures show: a user's links, and visits of the last 30 days.

import type { SqlClient } from "@effect/sql/SqlClient"
import * as Sql from "@effect/sql/SqlClient"
import { Clock, Effect, type Layer } from "effect"
import * as VisitStoreSql from "../src/storage/visits/VisitStoreSql.ts"
import { VisitStore, type HourCount, type ValueCount } from "../src/storage/visits/VisitStore.ts"
import {
  type Dimension,
  dimensions,
  hour_ms,
  hourOf,
  subjectOfLink,
  subjectOfOwner
} from "../src/model/Visit.ts"
import { Unavailable } from "../test/support/services/Service.ts"

/** Who signs in. */
export const user = { email: "ada@example.com", password: "correct horse battery staple", firstName: "Ada" }

/** The link whose statistics are shown. */
export const shown = "spring-sale"

/** The link that a password guards. */
export const guarded = "minutes"

/** A user's links, the oldest first. */
const links = [
  {
    url: "https://example.org/handbook/2027/onboarding",
    alias: "handbook",
    title: "Handbook",
    tags: ["team"]
  },
  { url: "https://docs.example.com/api/quickstart#first-request", title: "Quickstart", tags: ["docs"] },
  {
    url: "https://example.com/shop/spring?campaign=poster",
    alias: shown,
    title: "Spring sale",
    tags: ["shop"]
  },
  { url: "https://example.com/careers/data-engineer", title: "Data engineer", tags: ["jobs"] },
  { url: "https://example.com/press/kit.zip", title: "Press kit", tags: ["press"], maxVisits: 500 },
  { url: "https://events.example.net/meetup/42?source=poster", alias: "meetup-42", tags: ["events"] },
  {
    url: "https://files.example.com/board/minutes.pdf",
    alias: guarded,
    title: "Minutes",
    password: "open sesame"
  },
  {
    url: "https://example.com/shop/vouchers/ten-percent",
    title: "Voucher",
    tags: ["shop"],
    expiresIn: "P30D"
  }
] as const

/** The same of each: how many days ago it was made, and how popular it is. */
const days = [41, 36, 31, 19, 12, 7, 5, 2] as const
const popularity = [7, 12, 40, 3, 5, 9, 1, 26] as const

/** How often each value comes, in parts of the whole. */
const shares: Readonly<Record<Dimension, Readonly<Record<string, number>>>> = {
  referrers: { direct: 44, "news.example": 22, "social.example": 17, "mail.example": 11, "blog.example": 6 },
  countries: { DE: 31, US: 24, FR: 13, GB: 11, SE: 8, JP: 7, BR: 6 },
  browsers: { chrome: 48, safari: 27, firefox: 15, edge: 10 },
  os: { android: 33, ios: 27, windows: 24, macos: 11, linux: 5 },
  devices: { mobile: 58, desktop: 38, tablet: 4 },
  // None of these links has rules, nor UTM parameters, and no city is known.
  targets: {},
  utmSources: {},
  utmMediums: {},
  utmCampaigns: {},
  cities: {}
}

const daysShown = 30

/** The same numbers from 0 to 1 every time (a linear congruential generator). */
const draws = () => {
  let state = 20_270_101
  return () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) / 2 ** 31
}

/** Visits in so many of values, by their shares. */
const valuesOf = (visits: number, draw: () => number): ReadonlyArray<ValueCount> =>
  dimensions.flatMap((dimension) => {
    const counts = new Map<string, number>()
    for (let visit = 0; visit < visits; visit++) {
      let left = 100 * draw()
      const value = Object.entries(shares[dimension]).find(([, share]) => (left -= share) < 0)
      if (value !== undefined) counts.set(value[0], (counts.get(value[0]) ?? 0) + 1)
    }
    return [...counts].map(([value, visits]) => ({ dimension, value, visits }))
  })

/** People come by day, and more of them in the middle of the week. */
const busyness = (hour: number) => {
  const [ofDay, day] = [hour % 24, Math.floor(hour / 24) + 4]
  return (1.05 - Math.cos((2 * Math.PI * (ofDay - 3)) / 24)) * (day % 7 === 0 || day % 7 === 6 ? 0.5 : 1)
}

const post = (base: string, path: string, headers: Readonly<Record<string, string>>, json: unknown) =>
  Effect.tryPromise({
    try: async () => {
      const answer = await fetch(`${base}${path}`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(json)
      })
      if (!answer.ok) throw new Error(`${path} is answered ${answer.status}: ${await answer.text()}`)
      return answer
    },
    catch: (error) => new Unavailable({ reason: String(error) })
  })

/** Makes the user and his links. */
export const makeLinks = Effect.fn("makeLinks")(function* (base: string, adminKey: string) {
  yield* post(base, "/api/v1/users", { "x-api-key": adminKey }, user)
  const { email, password } = user
  const session = yield* post(base, "/api/v1/session", {}, { email, password })
  const cookie = session.headers.getSetCookie()[0]!.split(";")[0]!
  const scopes = ["links:read", "links:write", "stats:read"]
  const made = yield* post(base, "/api/v1/api-keys", { cookie }, { name: "newsletter", scopes })
  const { secret } = yield* Effect.promise(() => made.json() as Promise<{ readonly secret: string }>)
  for (const link of links) yield* post(base, "/api/v1/links", { "x-api-key": secret }, link)
})

/** Has the links be some days old, and adds visits, to a database that no process has. */
export const addVisits = <E>(client: Layer.Layer<SqlClient, E>) =>
  Effect.gen(function* () {
    const sql = yield* Sql.SqlClient
    const visits = yield* VisitStore
    const now = yield* Clock.currentTimeMillis
    const rows = yield* sql<{
      key: string
      owner: string
    }>`SELECT key, owner FROM links ORDER BY created_at, key`
    const draw = draws()
    const hours: Array<HourCount> = []
    for (const [index, { key, owner }] of rows.entries()) {
      const createdAt = now - days[index]! * 24 * hour_ms
      yield* sql`UPDATE links SET created_at = ${createdAt} WHERE key = ${key}`
      const from = Math.max(hourOf(createdAt), hourOf(now) - daysShown * 24)
      for (let hour = from + 1; hour < hourOf(now); hour++) {
        const nonBots = Math.floor((popularity[index]! / 8) * busyness(hour) * 2 * draw())
        const bots = draw() < 0.1 ? 1 : 0
        if (nonBots + bots === 0) continue
        const counted = { hour, nonBots, bots, values: valuesOf(nonBots, draw) }
        hours.push({ subject: subjectOfLink({ key, createdAt }), ...counted })
        hours.push({ subject: subjectOfOwner(owner), ...counted })
      }
    }
    // A batch has each subject and hour once; links of one owner share his hours.
    for (const [sequence, hour] of hours.entries()) {
      yield* visits.write({ writer: "screenshots", sequence, at: now, hours: [hour] })
    }
  }).pipe(Effect.provide(VisitStoreSql.layer), Effect.provide(client))
