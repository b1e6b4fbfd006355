import { Duration, Effect, Exit } from "effect"
import * as Timeout from "../../fibers/Timeout.ts"
import { plainKeyOf } from "../../keys/QualifiedKey.ts"
import type { Link } from "../../model/Link.ts"
import { StorageError } from "../../storage/StorageError.ts"
import type { LinkInvalidationsService } from "../../storage/links/LinkInvalidations.ts"
import { aloneOver } from "../presets/Aims.ts"
import { s_us } from "../world/Time.ts"
import { type Mutant, withFaults } from "./Mutant.ts"

const news =
  (mutate: (changes: LinkInvalidationsService) => Partial<LinkInvalidationsService>): Mutant["make"] =>
  () => ({ ports: ({ changes }) => ({ changes: { ...changes, ...mutate(changes) } }) })

/** Links that everybody asks for end and change while nodes are cut off from the database, and may be served stale for a while. */
const cutOff: Mutant["options"] = (options) => ({
  ...withFaults(
    { cutDatabase: { perMinute: 8, least_ms: 4_000, most_ms: 12_000 } },
    { clients: 20, think_ms: 2_000, created: 0.15, deleted: 0.05, changed: 0.1, remembered: 5 }
  )(options),
  nodes: 3,
  staleRedirects_s: 2,
  redirectCacheMax: 64
})

/** Nodes are often cut off from one database, for longer than it takes to know that, and may redirect for long by what they have. */
const longCutOff: Mutant["options"] = (options) => ({
  ...withFaults(
    { cutDatabase: { perMinute: 12, least_ms: 3_000, most_ms: 12_000 } },
    { clients: 8, think_ms: 1_000 }
  )(options),
  databases: 1,
  quarantine_s: 20,
  staleRedirects_s: 14
})

/** Likewise, where others read what they have not at hand from a replica. */
const withReplica: Mutant["options"] = (options) => ({
  ...longCutOff!(options),
  alone: null,
  linkReplicaLag_ms: 100,
  redirectCacheMax: 4
})

/** A process alone over a slow SQLite, whose few links change while everybody asks for them: it is told of no change. */
const slowAlone: Mutant["options"] = (options) =>
  aloneOver(
    {
      ...withFaults(
        { slowCalls: { probability: 0.15, most_ms: 5_000 } },
        {
          clients: 6,
          think_ms: 700,
          created: 0.1,
          changed: 0.1,
          withExpiry: 0,
          withMaxVisits: 0,
          justCreated: 0.05,
          followed: 0.9,
          remembered: 5
        }
      )(options),
      redirectCacheMax: 64
    },
    "sqlite"
  )

/** What can be broken about what nodes remember, and about how they stop. */
export const caches: ReadonlyArray<Mutant> = [
  {
    name: "cached-without-its-domain",
    text: "A node caches a link under its key alone, for all domains.",
    promise: "C1",
    checker: "unique binding",
    options: withFaults({}, { withAlias: 0.5, withDomain: 0.6 }),
    make: () => ({
      cache: (cache) => {
        const texts = new Map<string, string>()
        return {
          ...cache,
          getThen: (text, answer, span) => {
            const key = plainKeyOf(text)
            const cached = texts.get(key) ?? text
            texts.set(key, cached)
            cache.getThen(cached, answer, span)
          }
        }
      }
    })
  },
  {
    name: "replica-refuses",
    text: "A replica gives no links.",
    promise: "C8",
    checker: "stale redirects",
    options: withReplica,
    make: () => ({
      linkReplica: () => () =>
        Effect.fail(
          new StorageError({ operation: "LinkReplicas.findMany", applied: "no", reason: "it refuses" })
        )
    })
  },
  {
    name: "replica-far-behind",
    text: "A replica has a link as it was when a node read it first.",
    promise: "C4",
    checker: "freshness",
    options: withReplica,
    make: () => {
      const first = new Map<string, Link>()
      return {
        linkReplica: (read) => (keys) =>
          Effect.map(read(keys), (rows) =>
            rows.map((row) => {
              if (row !== null && !first.has(row.key)) first.set(row.key, row)
              return row === null ? null : first.get(row.key)!
            })
          )
      }
    }
  },
  {
    name: "news-unheeded",
    text: "Caches do not hear that another node has changed a link.",
    promise: "C4",
    checker: "freshness",
    make: news((changes) => ({
      subscribe: (subscriber) => changes.subscribe({ ...subscriber, forget: () => {} })
    }))
  },
  {
    name: "always-fresh",
    text: "Caches are used though the news of changed links do not come through.",
    promise: "C4",
    checker: "freshness",
    options: (options) => ({
      ...withFaults(
        { cutDatabase: { perMinute: 10, least_ms: 6_000, most_ms: 15_000 } },
        { deleted: 0.05, clients: 30, created: 0.2 }
      )(options),
      nodes: 2
    }),
    make: news(() => ({ isFresh: () => true, awayFor: () => undefined }))
  },
  {
    name: "stale-for-ever",
    text: "A node redirects what it has cached for as long as the database does not answer.",
    promise: "C4",
    checker: "freshness",
    options: cutOff,
    make: news((changes) => ({
      awayFor: (now) => (changes.awayFor(now) === undefined ? undefined : 0)
    }))
  },
  {
    name: "nothing-forgotten-after-silence",
    text: "Caches keep what they had when the news of changed links were lost for a while.",
    promise: "C4",
    checker: "freshness",
    make: news((changes) => ({
      subscribe: (subscriber) => changes.subscribe({ ...subscriber, forgetAll: () => {} })
    }))
  },
  {
    name: "absences-in-the-node-cache",
    text: "A node remembers for 5 s that a key is unknown.",
    promise: "C3",
    checker: "read your writes",
    make: () => ({
      cache: (cache, { world }) => {
        const absentUntil_us = new Map<string, number>()
        return {
          ...cache,
          getThen: (key, answer, span) => {
            if (world.now_us < (absentUntil_us.get(key) ?? 0)) return answer(Exit.succeed(null))
            cache.getThen(
              key,
              (row) => {
                if (Exit.isSuccess(row) && row.value === null)
                  absentUntil_us.set(key, world.now_us + 5 * s_us)
                answer(row)
              },
              span
            )
          }
        }
      }
    })
  },
  {
    name: "absences-for-long",
    text: "A process remembers for 20 s what had no row when it read it, unless it has created it itself.",
    promise: "C3",
    checker: "read your writes",
    options: withFaults(
      { move: { perMinute: 60, least_ms: 500, most_ms: 3_000 } },
      { wished: 0.4, withAlias: 0.3 }
    ),
    make: () => ({
      ports: ({ links }, { world }) => {
        const absentUntil_us = new Map<string, number>()
        return {
          links: {
            ...links,
            insertMany: (rows) => {
              for (const { key } of rows) absentUntil_us.delete(key)
              return links.insertMany(rows)
            },
            findMany: (keys) =>
              Effect.map(links.findMany(keys), (rows) =>
                rows.map((row, index) => {
                  const key = keys[index]!
                  if (row === null) absentUntil_us.set(key, world.now_us + 20 * s_us)
                  return world.now_us < (absentUntil_us.get(key) ?? 0) ? null : row
                })
              )
          }
        }
      }
    })
  },
  {
    name: "late-write-unwatched",
    text: "A node's cache takes a write for ended after 4 s, though its owner goes on with it.",
    promise: "C4",
    checker: "freshness",
    options: slowAlone,
    make: () => ({
      cache: (cache) => ({
        ...cache,
        write: (keys, effect, kept) => {
          const ended = { duration: Duration.seconds(4), onTimeout: () => Effect.interrupt }
          return cache.write(keys, Timeout.within(effect, ended), kept)
        }
      })
    })
  },
  {
    name: "stale-rows-unused",
    text: "A node that knows that the database is away does not redirect by what it has at hand.",
    promise: "C8",
    checker: "stale redirects",
    options: longCutOff,
    make: () => ({ cache: (cache) => ({ ...cache, staleNow: () => undefined }) })
  },
  {
    name: "waiting-reads-untold",
    text: "Reads that wait for the database when it is found to be away go on waiting, though their rows are at hand.",
    promise: "C8",
    checker: "stale redirects",
    options: longCutOff,
    make: () => ({ cache: (cache) => ({ ...cache, mayBeStale: () => false }) })
  },
  {
    name: "stopping-for-ever",
    text: "A node that has run for 20 s says for ever that it is stopping.",
    promise: "C8",
    checker: "liveness",
    make: () => ({
      drain: (drain, { world }) => {
        const started_us = world.now_us
        return {
          ...drain,
          isDraining: () => drain.isDraining() || world.now_us - started_us > 20 * s_us
        }
      }
    })
  },
  {
    name: "requests-cut-by-a-stop",
    text: "A node that shuts down does not wait for the requests that it is answering.",
    promise: "C8",
    checker: "shutdown",
    options: withFaults(
      {
        stop: { perMinute: 20, least_ms: 500, most_ms: 3_000 },
        cutDatabase: { perMinute: 20, least_ms: 1_000, most_ms: 5_000 }
      },
      { clients: 20 }
    ),
    make: () => ({ drain: (drain) => ({ ...drain, drain: Effect.void }) })
  }
]
