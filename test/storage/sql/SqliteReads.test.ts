import { it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { join } from "node:path"
import { describe, expect } from "vitest"
import { subjectOfLink } from "../../../src/model/Visit.ts"
import { LinkStore } from "../../../src/storage/links/LinkStore.ts"
import * as LinkStoreSql from "../../../src/storage/links/LinkStoreSql.ts"
import * as Migrations from "../../../src/storage/sql/Migrations.ts"
import * as SqliteClient from "../../../src/storage/sql/SqliteClient.ts"
import { VisitStore } from "../../../src/storage/visits/VisitStore.ts"
import * as VisitStoreSql from "../../../src/storage/visits/VisitStoreSql.ts"
import { linkOf } from "../../support/samples/SomeLinks.ts"
import { lockedByAnother } from "../../support/SqliteFile.ts"
import { temporaryFolder } from "../../support/Stores.ts"

/** Links and visits in a new file, at whose lock nobody waits. */
const open = Effect.gen(function* () {
  const path = join(yield* temporaryFolder, "linkmint.db")
  const context = yield* Layer.build(
    Layer.mergeAll(LinkStoreSql.layer, VisitStoreSql.layer).pipe(
      Layer.provideMerge(Migrations.layer),
      Layer.provide(SqliteClient.layer(path, { busyWaitMax: 0 }))
    )
  )
  return { path, links: Context.get(context, LinkStore), visits: Context.get(context, VisitStore) }
})

describe("what SQLite is asked to show", () => {
  const link = linkOf("one")
  const page = { order: "createdAt-desc", limit: 20, lookedAtMax: 1_000 } as const
  const questions = {
    "a page of all links": page,
    "a page of an owner's links without the archived ones": { ...page, owner: "usr_1", archived: false },
    "a page of the archived links": { ...page, archived: true },
    "a page in an order by visits": { ...page, order: "visits-desc" },
    "a page that is searched and counted": { ...page, text: "one", countedMax: 10 }
  } as const

  for (const [name, query] of Object.entries(questions)) {
    it.scopedLive(`is read while another program writes: ${name}`, () =>
      Effect.gen(function* () {
        const { links, path } = yield* open
        yield* links.insertMany([{ ...link, owner: "usr_1" }])
        yield* lockedByAnother(path)
        const { links: listed } = yield* links.list(query)
        expect(listed.map(({ key }) => key)).toEqual("archived" in query && query.archived ? [] : ["one"])
      })
    )
  }

  it.scopedLive("is read while another program writes: links by their keys, and their visits", () =>
    Effect.gen(function* () {
      const { links, path, visits } = yield* open
      yield* links.insertMany([link])
      const subject = subjectOfLink(link)
      yield* visits.write({
        writer: "w1",
        sequence: 1,
        at: 0,
        hours: [{ subject, hour: 0, nonBots: 2, bots: 1, values: [] }]
      })
      yield* lockedByAnother(path)
      expect(yield* links.findMany(["one", "none"])).toEqual([link, null])
      expect(yield* visits.totals([subject, "none"])).toEqual([
        { nonBots: 2, bots: 1 },
        { nonBots: 0, bots: 0 }
      ])
    })
  )
})
