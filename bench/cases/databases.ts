// What it costs that links are in several databases.

import { Effect } from "effect"
import { atMost, type Case, type Row } from "../Case.ts"
import { type Deployment, type Ground, startProgram } from "../Ground.ts"
import { startReference } from "../references/start.ts"
import * as Rounds from "../Rounds.ts"
import { creating } from "./growth.ts"
import { eachOnce, redirecting } from "./redirects.ts"

const linksOf = ({ quick }: Ground): number => (quick ? 10_000 : 400_000)

const lookingUp = (ground: Ground, deployment: Deployment, name: string) =>
  redirecting(ground, deployment, `look-up, ${name}`, eachOnce(ground, `databases-${name}`, deployment.links))

/** Callers of lists: fewer than of redirects, since each takes a hundred times as long. */
const listConnections = 8

const listing = Effect.fn("listing")(function* (ground: Ground, deployment: Deployment, name: string) {
  const { pid, port } = yield* startProgram(ground, deployment)
  const { apiKey } = deployment
  const load = { port, connections: listConnections, path: "/api/v1/links?limit=50", apiKey }
  return {
    subject: `list of 50, ${name}`,
    unit: "lists/s",
    pids: [pid],
    usesPostgres: true,
    run: (seconds) => ground.load.send({ ...load, seconds })
  } satisfies Rounds.Contender
})

/** Lists as they are written by hand: what several databases cost there, as each has to be asked. */
const listingByHand = Effect.fn("listingByHand")(function* (
  ground: Ground,
  { userId, variables }: Deployment,
  name: string
) {
  const urls = [variables["DATABASE_URL"], variables["LINK_DATABASE_URLS"] ?? []].flat().join(",")
  const server = yield* startReference(ground, "pages", { DATABASE_URLS: urls, OWNER: userId })
  return {
    subject: `list of 50 by node:http and pg, ${name}`,
    unit: "lists/s",
    pids: [server.pid],
    usesPostgres: true,
    run: (seconds) => ground.load.send({ ...server, connections: listConnections, seconds })
  } satisfies Rounds.Contender
})

/** CPU time of program and PostgreSQL for one request. */
const costOf = ({ cpu_us, databaseCpu_us }: Row) => cpu_us! + databaseCpu_us!

const ratioOf = ([one, four]: ReadonlyArray<Row>) => costOf(four!) / costOf(one!)

/** Look-ups, creates and lists of links in four databases beside those in one. */
export const databases: Case = {
  name: "databases",
  title: "Links in four databases beside links in one, one process",
  run: Effect.fn("databases")(function* (ground) {
    const kinds = [
      ["one database", yield* ground.deployment("PostgreSQL", linksOf(ground))],
      ["four databases", yield* ground.deployment("four databases", linksOf(ground))]
    ] as const
    const plan = ground.quick
      ? { rounds: 1, seconds: 1, warmUp_s: 1 }
      : { rounds: 6, seconds: 3, warmUp_s: 3 }
    const of = (
      contender: typeof listing | typeof listingByHand | typeof lookingUp
    ): ReturnType<typeof Rounds.measure> =>
      Effect.forEach(kinds, ([name, deployment]) => contender(ground, deployment, name)).pipe(
        Effect.flatMap((contenders) => Rounds.measure(ground, contenders, plan)),
        Effect.scoped
      )
    const lookUps = yield* of(lookingUp)
    const creates = yield* of(creating)
    const lists = yield* of(listing)
    const listsByHand = yield* of(listingByHand)
    const goal = (what: string, most: number, rows: ReadonlyArray<Row>) =>
      atMost(
        `CPU time of a ${what} with four databases, of that with one:`,
        most,
        "",
        ratioOf(rows),
        rows.reduce((sum, { errors }) => sum + errors, 0)
      )
    return {
      rows: [...lookUps, ...creates, ...lists, ...listsByHand],
      goals: [goal("look-up", 1.1, lookUps), goal("create", 1.1, creates), goal("list of 50", 2, lists)],
      notes: [
        `${linksOf(ground).toLocaleString("en")} links; the four databases are on the same server as the one. CPU time is that of program and PostgreSQL together. Look-ups are of another link each time, so that none is at hand.`,
        `A list by hand, of eight columns and without visits, checks and another page, costs ${ratioOf(listsByHand).toFixed(2)} times as much with four databases.`
      ]
    }
  })
}
