import { Command, Options } from "@effect/cli"
import { Console, Effect } from "effect"
import * as Capitals from "../http/domains/Capitals.ts"
import { hostNamed } from "../model/Domain.ts"
import { DomainStore } from "../storage/domains/DomainStore.ts"
import { LinkStore } from "../storage/links/LinkStore.ts"
import { textTable } from "../terminal/TextTable.ts"
import { Refused } from "./Refused.ts"

/** Aliases that are named at most. */
const namedMax = 10_000

/** Keys of a statement at most. */
const keysMax = 500

const partial = new Refused({
  message: "One of the databases of links does not answer: the list would have gaps."
})

/** The links of the deployment's databases. */
const reading = Effect.map(LinkStore, ({ findMany, list }) => ({
  list: (query: Parameters<typeof list>[0]) =>
    Effect.filterOrFail(
      list(query),
      ({ isPartial }) => isPartial !== true,
      () => partial
    ),
  findMany: (texts: ReadonlyArray<string>) =>
    Effect.map(
      Effect.forEach(
        Array.from({ length: Math.ceil(texts.length / keysMax) }, (_, part) => part * keysMax),
        (from) => findMany(texts.slice(from, from + keysMax))
      ),
      (parts) => parts.flat()
    )
}))

const counted = (count: number, what: string) =>
  `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "es"}`

/** `aliases-with-capitals` */
export const aliasesWithCapitals = Command.make(
  "aliases-with-capitals",
  {
    domain: Options.text("domain").pipe(Options.withDescription("The host name of a further domain")),
    limit: Options.integer("limit").pipe(
      Options.withDefault(100),
      Options.withDescription(
        `Aliases that are named, the newest first: up to ${namedMax.toLocaleString("en")}`
      )
    ),
    json: Options.boolean("json").pipe(Options.withDescription("Prints what the API answers, in JSON"))
  },
  Effect.fn(function* ({ domain, json, limit }) {
    const host = hostNamed(domain)
    const known = yield* (yield* DomainStore).read(null)
    const found = known?.domains.find((one) => one.host === host)
    if (found === undefined) {
      return yield* new Refused({ message: `There is no further domain ${domain}.` })
    }
    const max = Math.min(namedMax, Math.max(1, limit))
    const { data, isComplete } = yield* Capitals.report(yield* reading, found.number, max)
    if (json) return yield* Console.log(JSON.stringify({ data, isComplete }, null, 2))
    if (data.length > 0) {
      const rows = data.map(({ collides, folded, key }) => [key, folded, collides ? "collides" : ""])
      yield* Console.log(textTable(rows, new Set([0, 1, 2])))
    }
    const collisions = data.filter(({ collides }) => collides).length
    const more = isComplete ? "" : ", the newest; there are more"
    yield* Console.log(
      `${counted(data.length, "alias")} of ${host} with capital letters${more}, ${collisions.toLocaleString("en")} of them colliding`
    )
  })
).pipe(
  Command.withDescription(
    "Lists the aliases that keep a further domain from ignoring case, in lower case as well, and which of them collide"
  )
)
