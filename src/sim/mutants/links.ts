import { Effect, Struct } from "effect"
import { plainKeyOf } from "../../keys/QualifiedKey.ts"
import type { Link } from "../../model/Link.ts"
import type { LinkStore } from "../../storage/links/LinkStore.ts"
import { StorageError } from "../../storage/StorageError.ts"
import { cutCommits } from "../presets/Databases.ts"
import { happens, later, type Mutant, withFaults } from "./Mutant.ts"

type Links = typeof LinkStore.Service

/** A mutant of the links at a process's end of the connection. */
const atPort =
  (mutate: (links: Links, process: Parameters<typeof happens>[0]) => Partial<Links>): Mutant["make"] =>
  () => ({
    ports: ({ links }, process) => ({ links: { ...links, ...mutate(links, process) } })
  })

/** The same in the database. */
const inDatabase =
  (mutate: (links: Links, rows: Map<string, Link>) => Partial<Links>): Mutant["make"] =>
  () => ({
    database: ({ links }, { rows }) => ({ links: { ...links, ...mutate(links, rows) } })
  })

/** The database restarts all the time, so that statements under way are not answered. */
const restarts = { databaseRestart: { perMinute: 60, least_ms: 50, most_ms: 200 } }

/** How far the replica of `reads-lag` is behind. */
const lag_ms = 2_000

const asItWas = (row: Link | null, now_ms: number): Link | null => {
  if (row === null || now_ms - row.updatedAt > lag_ms) return row
  return row.deletedAt === null ? null : { ...row, deletedAt: null, updatedAt: row.createdAt }
}

/** Crawlers ask often which links they may read, of which there are many. */
const crawled = withFaults(
  { kill: { perMinute: 6, least_ms: 200, most_ms: 2_000 } },
  { crawled: 0.05, withChoices: 0.6, varied: 1, withDomain: 0, deleted: 0.2, changed: 0.2, edited: 0.5 }
)

/** What can be broken about the links and their primary key. */
export const links: ReadonlyArray<Mutant> = [
  {
    name: "insert-overwrites",
    text: "An insert takes the place of the row that has its key.",
    promise: "C1",
    checker: "unique binding",
    make: inDatabase((_, rows) => ({
      insertMany: (links) =>
        Effect.sync(() =>
          links.map((link) => {
            rows.set(link.key, link)
            return true
          })
        )
    }))
  },
  {
    name: "insert-says-yes",
    text: "An insert that finds its key bound says that it has bound it.",
    promise: "C1",
    checker: "unique binding",
    make: inDatabase((links) => ({
      insertMany: (rows) => Effect.map(links.insertMany(rows), (answers) => answers.map(() => true))
    }))
  },
  {
    name: "insert-before-commit",
    text: "A create is acknowledged before it is committed.",
    promise: "C2",
    checker: "durability",
    make: atPort((links, process) => ({
      insertMany: (rows) =>
        Effect.map(links.takenAmong(rows.map(({ key }) => key)), (taken) =>
          rows.map(({ key }) => !taken.has(key))
        ).pipe(Effect.zipLeft(later(process, 300, links.insertMany(rows))))
    }))
  },
  {
    name: "delete-before-commit",
    text: "A delete is acknowledged before it is committed.",
    promise: "C2",
    checker: "durability",
    make: atPort((links, process) => ({
      deleteMany: (deletions) =>
        Effect.map(links.takenAmong(deletions.map(({ key }) => key)), (taken) =>
          deletions.map(({ key }) => taken.has(key))
        ).pipe(Effect.zipLeft(later(process, 300, links.deleteMany(deletions))))
    }))
  },
  {
    name: "taken-none",
    text: "Recovery and the buffer are told that no key is bound.",
    promise: "C1",
    checker: "key ways",
    options: withFaults({
      databaseCalls: { refused: 0.03, lost: 0.03, ignored: 0.03 },
      redisLoss: { perMinute: 12, least_ms: 100, most_ms: 1_000 }
    }),
    make: atPort(() => ({ takenAmong: () => Effect.succeed(new Set<string>()) }))
  },
  {
    name: "taken-in-one-domain",
    text: "Recovery and the buffer are told nothing of the links in further domains.",
    promise: "C1",
    checker: "key ways",
    options: withFaults(
      {
        databaseCalls: { refused: 0.1, lost: 0.1, ignored: 0.03 },
        redisLoss: { perMinute: 20, least_ms: 100, most_ms: 1_000 }
      },
      { withDomain: 0.9 }
    ),
    make: atPort((links) => ({
      takenAmong: (keys) =>
        Effect.map(links.findMany(keys), (rows) => new Set(keys.filter((_, place) => rows[place] !== null)))
    }))
  },
  {
    name: "passwords-unread",
    text: "Links are read without their passwords.",
    promise: "C4",
    checker: "previews",
    options: withFaults({}, { withPassword: 0.5, shown: 0.5 }),
    make: atPort((links) => ({
      findMany: (keys) =>
        Effect.map(links.findMany(keys), (rows) =>
          rows.map((row) => (row === null ? null : { ...row, passwordHash: null }))
        )
    }))
  },
  {
    name: "freed-with-its-domain",
    text: "The key of a link in a further domain goes to the stock as the link's text.",
    promise: "C1",
    checker: "key ways",
    options: withFaults({}, { withDomain: 0.6, withExpiry: 0.4 }),
    make: () => ({
      database: ({ lifetime }, { stocked: { stock } }) => ({
        lifetime: {
          ...lifetime,
          recycle: (recycling) =>
            Effect.tap(lifetime.recycle(recycling), (freed) => {
              for (const { key } of freed) if (stock.delete(plainKeyOf(key))) stock.add(key)
            })
        }
      })
    })
  },
  {
    name: "reads-lag",
    text: "Links are read from a replica that is 2 s behind.",
    promise: "C3",
    checker: "read your writes",
    make: atPort((links, { world }) => ({
      findMany: (keys) =>
        Effect.map(links.findMany(keys), (rows) => rows.map((row) => asItWas(row, world.now_ms)))
    }))
  },
  {
    name: "delete-removes-the-row",
    text: "A deleted link leaves no tombstone, so that its key can be bound again.",
    promise: "C1",
    checker: "unique binding",
    make: inDatabase((_, rows) => ({
      deleteMany: (deletions) => Effect.sync(() => deletions.map(({ key }) => rows.delete(key)))
    }))
  },
  {
    name: "unknown-taken-for-yes",
    text: "A create whose fate is unknown is acknowledged.",
    promise: "C2",
    checker: "durability",
    options: withFaults(restarts, { bursts: 0.2 }),
    make: atPort((links) => ({
      insertMany: (rows) =>
        Effect.catchIf(
          links.insertMany(rows),
          ({ applied }) => applied === "unknown",
          () => Effect.succeed(rows.map(() => true))
        )
    }))
  },
  {
    name: "ended-session-taken-for-no",
    text: "A create counts as not done when PostgreSQL ends its session, though its commit may be there.",
    promise: "C1",
    checker: "key ways",
    options: withFaults(cutCommits),
    make: atPort((links) => ({
      insertMany: (rows) =>
        Effect.mapError(links.insertMany(rows), (error) =>
          error.reason.includes("administrator command")
            ? new StorageError({ ...error, applied: "no" })
            : error
        )
    }))
  },
  {
    name: "create-repeat-unknown",
    text: "A create that comes twice conflicts with itself.",
    promise: "C1",
    checker: "unique binding",
    // Where links are in several databases, one whose connection breaks is asked again.
    options: (options) => ({ ...withFaults(restarts, { withAlias: 0.7 })(options), databases: 3 }),
    make: inDatabase((links) => ({
      insertMany: (rows) => links.insertMany(rows.map((row) => Struct.omit(row, "createId")))
    }))
  },
  {
    name: "delete-repeat-unknown",
    text: "A delete that comes twice is told that there was nothing to delete.",
    promise: "C8",
    checker: "read your writes",
    options: withFaults(
      { messages: { dropped: 0.1, repeated: 0.5, delayed: 0, delay_ms: 0 } },
      { deleted: 0.3 }
    ),
    make: inDatabase((links) => ({
      deleteMany: (deletions) => links.deleteMany(deletions.map(({ at, key }) => ({ at, key })))
    }))
  },
  {
    name: "delete-acknowledged-again",
    text: "A delete of a link that has been deleted is acknowledged once more.",
    promise: "C7",
    checker: "repeated deletes",
    options: (options) => ({
      ...options,
      workload: { ...options.workload, deleted: 0.3, remembered: 10 }
    }),
    make: inDatabase((links) => ({
      deleteMany: (deletions) => Effect.map(links.deleteMany(deletions), (answers) => answers.map(() => true))
    }))
  },
  {
    name: "delete-never-acknowledged",
    text: "A delete that is made is answered as if there had been nothing to delete.",
    promise: "C7",
    checker: "repeated deletes",
    options: (options) => ({ ...options, workload: { ...options.workload, deleted: 0.3 } }),
    make: inDatabase((links) => ({
      deleteMany: (deletions) =>
        Effect.map(links.deleteMany(deletions), (answers) => answers.map(() => false))
    }))
  },
  {
    name: "visits-taken-anew",
    text: "The visits of a link that has only so many are taken once more when they are asked for a second time.",
    promise: "C5",
    checker: "exact visits",
    options: withFaults(
      { messages: { dropped: 0.1, repeated: 0.3, delayed: 0, delay_ms: 0 } },
      { created: 0.3, withMaxVisits: 0.8, remembered: 20 }
    ),
    make: inDatabase((links) => {
      let number = 0
      return {
        takeVisits: (takes) => links.takeVisits(takes.map((take) => ({ ...take, number: ++number })))
      }
    })
  },
  {
    name: "bound-together",
    text: "Of links that are bound at a time, all are said to be bound where one is.",
    promise: "C1",
    checker: "unique binding",
    options: withFaults({}, { bulk: 0.5, withAlias: 0.8 }),
    make: inDatabase((links) => ({
      insertMany: (rows) =>
        Effect.map(links.insertMany(rows), (answers) =>
          answers.some(Boolean) ? answers.map(() => true) : answers
        )
    }))
  },
  {
    name: "expiry-late",
    text: "Links are read with an expiry that is 10 s late.",
    promise: "C4",
    checker: "freshness",
    options: (options) => ({
      ...options,
      faults: { ...options.faults, clockJump: { perMinute: 0, least_ms: 0, most_ms: 0 } }
    }),
    make: atPort((links) => ({
      findMany: (keys) =>
        Effect.map(links.findMany(keys), (rows) =>
          rows.map((row) =>
            row === null || row.expiresAt === null ? row : { ...row, expiresAt: row.expiresAt + 10_000 }
          )
        )
    }))
  },
  {
    name: "crawlers-miss-the-newest",
    text: "Crawlers are not told of the newest link that is for them.",
    promise: "C2",
    checker: "crawlers",
    options: crawled,
    make: atPort((links) => ({
      crawlable: (query) => Effect.map(links.crawlable(query), (keys) => keys.slice(1))
    }))
  },
  {
    name: "crawlers-told-of-former-links",
    text: "Crawlers go on being told of links that were for them once.",
    promise: "C2",
    checker: "crawlers",
    options: crawled,
    make: () => {
      const told = new Set<string>()
      return {
        ports: ({ links }) => ({
          links: {
            ...links,
            crawlable: (query) =>
              Effect.map(links.crawlable(query), (keys) => {
                for (const key of keys) told.add(key)
                return Array.from(told)
              })
          }
        })
      }
    }
  }
]
