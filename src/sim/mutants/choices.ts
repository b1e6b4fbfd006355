import { blockedUrls } from "../deployment/Visitors.ts"
import { Effect, Struct } from "effect"
import type { ExtrasChange, Link, LinkExtras } from "../../model/Link.ts"
import type { DomainList } from "../../storage/domains/DomainStore.ts"
import type { LinkStore } from "../../storage/links/LinkStore.ts"
import { s_us } from "../world/Time.ts"
import type { VirtualProcess } from "../world/VirtualProcess.ts"
import { type Mutant, withFaults } from "./Mutant.ts"

type Links = typeof LinkStore.Service

/** Clients who choose much of their links, change that, and list them. */
const choosing: Mutant["options"] = (options) =>
  withFaults({}, { withChoices: 0.5, edited: 0.8, changed: 0.2, created: 0.4, listed: 0.05 })(options)

/** The same, of how links answer. */
const varying: Mutant["options"] = withFaults(
  {},
  {
    withChoices: 0.7,
    varied: 0.9,
    edited: 0.8,
    changed: 0.15,
    created: 0.3,
    withExpiry: 0.4,
    wished: 0,
    followed: 0.3,
    remembered: 20
  }
)

/** The same, of links that few visits use up. */
const limiting: Mutant["options"] = (options) => {
  const { workload, ...others } = choosing!(options)
  return { ...others, workload: { ...workload, created: 0.1, withMaxVisits: 0.5, remembered: 8 } }
}

/** The same, of aliases with several segments. */
const branching: Mutant["options"] = (options) => {
  const { workload, ...others } = choosing!(options)
  return {
    ...others,
    workload: { ...workload, withAlias: 0.7, withLongAlias: 0.8, withDomain: 0, wished: 0.4 }
  }
}

/** The same, of when links end. */
const extending: Mutant["options"] = withFaults(
  {},
  { extended: 0.8, edited: 0.5, varied: 0.5, changed: 0.3, created: 0.3, withExpiry: 0.4, remembered: 20 }
)

/** Users whose links existed elsewhere. */
const importing: Mutant["options"] = withFaults(
  {},
  { imported: 0.8, withAccount: 0.7, withMaxVisits: 0.4, created: 0.4, shown: 0.3 }
)

/** Links as a process has them bound. */
const binding =
  (bound: (link: Link) => Link): Mutant["make"] =>
  () => ({
    ports: ({ links }) => ({
      links: { ...links, insertMany: (given) => links.insertMany(given.map(bound)) }
    })
  })

/** Links as a process reads them. */
const reading =
  (seen: (link: Link, process: VirtualProcess) => Link): Mutant["make"] =>
  () => ({
    ports: ({ links }, process) => ({
      links: {
        ...links,
        findMany: (keys) =>
          Effect.map(links.findMany(keys), (rows) =>
            rows.map((row) => (row === null ? null : seen(row, process)))
          )
      }
    })
  })

/** Changes as a process has them made. */
const changing =
  (mutate: (links: Links) => Partial<Links>): Mutant["make"] =>
  () => ({ ports: ({ links }) => ({ links: { ...links, ...mutate(links) } }) })

const without = (link: Link, name: keyof LinkExtras): Link => {
  const { [name]: _, ...extras } = link.extras ?? {}
  return { ...link, extras }
}

const noExtras: ExtrasChange = {
  archived: null,
  forwardPath: null,
  rules: null,
  variants: null
}

/** How far behind `rules-read-late` is. */
const late_us = 4 * s_us

/** What changed links have left of their visits. */
const withVisitsLeft =
  (leftOf: (link: Link) => number | null): Mutant["make"] =>
  () => ({
    database: ({ links }, { rows }) => ({
      links: {
        ...links,
        updateMany: (updates) =>
          Effect.tap(links.updateMany(updates), () => {
            for (const { key } of updates) {
              const row = rows.get(key)
              if (row !== undefined) rows.set(key, { ...row, visitsLeft: leftOf(row) })
            }
          })
      }
    })
  })

/** What can be broken about what else is chosen of links, and about lists of them. */
export const choices: ReadonlyArray<Mutant> = [
  {
    name: "any-password-opens",
    text: "Any password opens a link that has one.",
    promise: "C2",
    checker: "passwords of links",
    options: withFaults({}, { withPassword: 0.4, created: 0.3 }),
    make: () => ({
      passwords: (passwords) => ({
        ...passwords,
        verify: (hash, password) => Effect.as(passwords.verify(hash, password), true)
      })
    })
  },
  {
    name: "password-refused-now-and-then",
    text: "Every twentieth time a link's password is refused.",
    promise: "C2",
    checker: "passwords of links",
    options: withFaults({}, { withPassword: 0.4, created: 0.3 }),
    make: () => ({
      passwords: (passwords) => {
        let count = 0
        return {
          ...passwords,
          verify: (hash, password) =>
            Effect.map(passwords.verify(hash, password), (isRight) => isRight && ++count % 20 !== 0)
        }
      }
    })
  },
  {
    name: "rules-unheeded",
    text: "Redirects lead to a link's own target, whatever its rules say.",
    promise: "C3",
    checker: "leading",
    options: choosing,
    make: reading((link) => without(link, "rules"))
  },
  {
    name: "paths-not-forwarded",
    text: "A path that follows a key leads nowhere, though its link forwards it.",
    promise: "C3",
    checker: "leading",
    options: choosing,
    make: reading((link) => without(link, "forwardPath"))
  },
  {
    name: "networks-in-ipv4-alone",
    text: "Links may lead into private networks by IPv6 addresses.",
    promise: "C2",
    checker: "refusals",
    options: withFaults({}, { refused: 0.5, bulk: 0.3, created: 0.8 }),
    make: () => ({
      targets: (targets) => ({ faultOf: (url) => (url.includes("[") ? undefined : targets.faultOf(url)) })
    })
  },
  {
    name: "blocked-later-led",
    text: "Links lead to a host that was blocked after they were made.",
    promise: "C2",
    checker: "leading",
    options: withFaults({}, { refused: 0.02, withChoices: 0.6, created: 0.3 }),
    make: () => ({
      targets: (targets) => ({
        faultOf: (url) => (url.startsWith(blockedUrls) ? undefined : targets.faultOf(url))
      })
    })
  },
  {
    name: "valid-too-early",
    text: "Links lead on before they are valid.",
    promise: "C3",
    checker: "answers",
    options: varying,
    make: reading((link) => ({ ...link, validSince: null }))
  },
  {
    name: "valid-too-late",
    text: "Links lead nowhere until 3 s after the time from which on they are valid.",
    promise: "C3",
    checker: "read your writes",
    options: varying,
    make: reading((link) => ({ ...link, validSince: link.validSince && link.validSince + 3_000 }))
  },
  {
    name: "one-status-for-all",
    text: "All redirects have one status, whatever their links say.",
    promise: "C3",
    checker: "answers",
    options: varying,
    make: reading((link) => ({ ...link, redirectStatus: 302 }))
  },
  {
    name: "queries-appended",
    text: "Whose parameters hold makes no difference to a query string that is forwarded.",
    promise: "C3",
    checker: "leading",
    options: varying,
    make: reading((link) => without(link, "queryPrecedence"))
  },
  {
    name: "card-as-it-was",
    text: "Crawlers are shown a card that is without its description.",
    promise: "C3",
    checker: "answers",
    options: varying,
    make: reading((link) => {
      const card = link.extras?.card
      return card === undefined
        ? link
        : { ...link, extras: { ...link.extras, card: Struct.omit(card, "description") } }
    })
  },
  {
    name: "ended-leads-nowhere",
    text: "Visitors who come too late are not sent where their link says.",
    promise: "C3",
    checker: "answers",
    options: varying,
    make: reading((link) => without(link, "expiredUrl"))
  },
  {
    name: "rules-hold-for-ever",
    text: "A rule that holds until some moment, holds after it as well.",
    promise: "C3",
    checker: "answers",
    options: varying,
    make: reading((link) => {
      const rules = link.extras?.rules
      return rules === undefined
        ? link
        : {
            ...link,
            extras: {
              ...link.extras,
              rules: rules.map((rule) => ({ ...rule, when: Struct.omit(rule.when, "until") }))
            }
          }
    })
  },
  {
    name: "variants-of-each-node",
    text: "Nodes divide visitors among variants in different orders.",
    promise: "C3",
    checker: "leading",
    options: (options) => ({ ...choosing!(options), nodes: 3 }),
    make: reading((link, { name }) => {
      const variants = link.extras?.variants
      return variants === undefined || name !== "node-0"
        ? link
        : { ...link, extras: { ...link.extras, variants: variants.toReversed() } }
    })
  },
  {
    name: "rules-read-late",
    text: "A process reads the rules of a link as they were up to 4 s before.",
    promise: "C4",
    checker: "freshness",
    options: (options) => {
      const { workload, ...others } = choosing!(options)
      return { ...others, workload: { ...workload, created: 0.1, remembered: 5, followed: 0.5 } }
    },
    make: () => {
      const read = new Map<string, { readonly at_us: number; readonly link: Link }>()
      return reading((link, { world }) => {
        const known = read.get(link.key)
        if (known === undefined || world.now_us - known.at_us > late_us) {
          read.set(link.key, { at_us: world.now_us, link })
          return link
        }
        return known.link.createdAt === link.createdAt && known.link.extras !== undefined
          ? { ...link, extras: known.link.extras }
          : link
      })()
    }
  },
  {
    name: "change-clears-the-others",
    text: "A change of one choice clears all others of the link.",
    promise: "C2",
    checker: "choices",
    options: choosing,
    make: changing((links) => ({
      updateMany: (updates) =>
        links.updateMany(
          updates.map(({ change, ...update }) => ({
            ...update,
            change: {
              ...change,
              ...(change.extras !== undefined && { extras: { ...noExtras, ...change.extras } })
            }
          }))
        )
    }))
  },
  {
    name: "change-without-choices",
    text: "A change leaves out what only few links have.",
    promise: "C2",
    checker: "choices",
    options: choosing,
    make: changing((links) => ({
      updateMany: (updates) =>
        links.updateMany(
          updates.map((update) => ({ ...update, change: Struct.omit(update.change, "extras") }))
        )
    }))
  },
  {
    name: "password-kept",
    text: "A change that takes a link's password away leaves it.",
    promise: "C2",
    checker: "choices",
    options: withFaults({}, { withPassword: 0.4, created: 0.3, changed: 0.2, edited: 0.8 }),
    make: changing((links) => ({
      updateMany: (updates) =>
        links.updateMany(
          updates.map(({ change, ...update }) => ({
            ...update,
            change: change.passwordHash === null ? Struct.omit(change, "passwordHash") : change
          }))
        )
    }))
  },
  {
    name: "lowered-limit-forgets",
    text: "A limit below what was used of a link is kept as if no more had been used than it allows.",
    promise: "C5",
    checker: "exact visits",
    options: limiting,
    make: withVisitsLeft(({ visitsLeft }) => visitsLeft && Math.max(0, visitsLeft))
  },
  {
    name: "limit-begins-again",
    text: "A link has all its visits again when something of it is changed.",
    promise: "C5",
    checker: "exact visits",
    options: limiting,
    make: withVisitsLeft(({ maxVisits }) => maxVisits)
  },
  {
    name: "changed-end-dropped",
    text: "A change of when a link ends is answered, and not made.",
    promise: "C2",
    checker: "choices",
    options: extending,
    make: changing((links) => ({
      updateMany: (updates) =>
        links.updateMany(
          updates.map(({ change, ...update }) => ({ ...update, change: Struct.omit(change, "expiresAt") }))
        )
    }))
  },
  {
    name: "former-end-cached",
    text: "A node that has cached a link goes on with the end that it had then.",
    promise: "C4",
    checker: "read your writes",
    options: extending,
    make: () => {
      const ends = new Map<string, number | null>()
      return {
        ports: ({ links }) => ({
          links: {
            ...links,
            findMany: (keys) =>
              Effect.map(links.findMany(keys), (rows) =>
                rows.map((row) => {
                  if (row === null) return null
                  const of = `${row.key} ${row.createdAt}`
                  if (!ends.has(of)) ends.set(of, row.expiresAt)
                  return { ...row, expiresAt: ends.get(of)! }
                })
              )
          }
        })
      }
    }
  },
  {
    name: "imported-as-made-here",
    text: "A link that existed elsewhere counts as created when it was imported.",
    promise: "C2",
    checker: "choices",
    options: importing,
    make: binding((link) => (link.createdAt < link.updatedAt ? { ...link, createdAt: link.updatedAt } : link))
  },
  {
    name: "imported-with-all-visits",
    text: "A link of which redirects were used elsewhere has all of its limit.",
    promise: "C5",
    checker: "choices",
    options: importing,
    make: binding((link) => ({ ...link, visitsLeft: link.maxVisits }))
  },
  {
    name: "imported-visits-lost",
    text: "What was counted of a link elsewhere is forgotten when something of it is changed.",
    promise: "C11",
    checker: "shown links",
    options: (options) => {
      const { workload, ...others } = importing!(options)
      return { ...others, workload: { ...workload, changed: 0.2, edited: 0.5, remembered: 20 } }
    },
    make: reading((link) => (link.updatedAt > link.createdAt ? Struct.omit(link, "importedVisits") : link))
  },
  {
    name: "limit-not-taken",
    text: "A link with a limit grants all visits.",
    promise: "C5",
    checker: "exact visits",
    options: limiting,
    make: changing(() => ({
      takeVisits: (takes) => Effect.succeed(takes.map(({ count }) => ({ granted: count, left: 1 })))
    }))
  },
  {
    name: "long-aliases-known-late",
    text: "A node learns of aliases with several segments 8 s after others.",
    promise: "C3",
    checker: "read your writes",
    options: branching,
    make: () => ({
      domains: (store, { world }) => {
        const lists: Array<{ readonly at_us: number; readonly list: DomainList }> = []
        return {
          ...store,
          read: () =>
            Effect.map(store.read(null), (list) => {
              lists.push({ at_us: world.now_us, list: list! })
              return lists.findLast(({ at_us }) => at_us <= world.now_us - 8 * s_us)?.list ?? lists[0]!.list
            })
        }
      }
    })
  },
  {
    name: "shorter-alias-wins",
    text: "A link takes the paths of longer aliases, where it forwards paths.",
    promise: "C3",
    checker: "leading",
    options: branching,
    make: () => ({
      ports: ({ links }) => ({
        links: {
          ...links,
          findMany: (keys) =>
            Effect.flatMap(links.findMany(keys), (rows) =>
              Effect.forEach(rows, (row) => {
                const end = row === null ? -1 : row.key.indexOf("/")
                return end === -1
                  ? Effect.succeed(row)
                  : Effect.map(links.findMany([row!.key.slice(0, end)]), ([shorter]) =>
                      shorter?.extras?.forwardPath === true ? null : row
                    )
              })
            )
        }
      })
    })
  },
  {
    name: "archived-is-listed",
    text: "A list has archived links whatever it is asked for.",
    promise: "lists",
    checker: "lists",
    options: choosing,
    make: changing((links) => ({ list: (query) => links.list({ ...query, archived: undefined }) }))
  },
  {
    name: "others-are-listed",
    text: "A user's list has the links of all users.",
    promise: "lists",
    checker: "lists",
    options: (options) => withFaults({}, { listed: 0.05, withAccount: 0.5 })(options),
    make: changing((links) => ({ list: (query) => links.list({ ...query, owner: undefined }) }))
  },
  {
    name: "total-of-a-page",
    text: "The number of links that a list tells is that of its first page.",
    promise: "lists",
    checker: "lists",
    options: (options) => withFaults({}, { listed: 0.05, created: 0.5 })(options),
    make: changing((links) => ({
      list: (query) =>
        Effect.map(links.list(query), (page) => ({
          ...page,
          ...(page.total !== undefined && { total: { ...page.total, count: page.links.length } })
        }))
    }))
  },
  {
    name: "bulk-edit-skips-one",
    text: "The page behind another one begins a link too late.",
    promise: "lists",
    checker: "bulk edits",
    options: (options) => withFaults({}, { editedInBulk: 0.02, created: 0.5 })(options),
    make: changing((links) => ({
      list: (query) =>
        Effect.map(links.list(query), (page) =>
          query.after === undefined ? page : { ...page, links: page.links.slice(1) }
        )
    }))
  },
  {
    name: "bulk-edit-changes-archived",
    text: "A bulk edit changes a link that was archived meanwhile.",
    promise: "lists",
    checker: "bulk edits",
    options: (options) =>
      withFaults(
        {},
        { editedInBulk: 0.05, created: 0.5, withChoices: 0.5, edited: 0.9, changed: 0.6 }
      )(options),
    make: changing((links) => ({
      updateMany: (updates) => links.updateMany(updates.map((update) => ({ ...update, onlyIf: undefined })))
    }))
  },
  {
    name: "lists-lag",
    text: "Links are in no list before they are 2 s old.",
    promise: "lists",
    checker: "lists",
    options: choosing,
    make: () => ({
      ports: ({ links }, { world }) => ({
        links: {
          ...links,
          list: (query) =>
            Effect.map(links.list(query), (page) => ({
              ...page,
              links: page.links.filter(({ createdAt }) => world.now_ms - createdAt > 2_000)
            }))
        }
      })
    })
  }
]
