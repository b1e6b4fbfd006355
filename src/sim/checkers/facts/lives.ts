import type { Link } from "../../../model/Link.ts"
import type { Exchange } from "../../History.ts"
import type { JournalEntry } from "../../Journal.ts"
import { isTarget } from "./targets.ts"

/** What a link was like from a moment on: microseconds since the world's beginning. */
export interface Version {
  readonly link: Link
  readonly since_us: number
}

/** What a key stood for from its binding until it was free again. Times are microseconds since the world's beginning; infinite: never. */
export interface Life {
  /** As it was bound. */
  readonly link: Link
  readonly bound_us: number
  /** What it was like, in the order in which the database had it so. The first is as it was bound. */
  readonly versions: ReadonlyArray<Version>
  /** When it became a tombstone, and when that went. */
  readonly ended_us: number
  readonly freed_us: number
}

/** The lives of each key, in their order. */
export type Lives = ReadonlyMap<string, ReadonlyArray<Life>>

interface Begun extends Life {
  readonly versions: Array<Version>
  ended_us: number
  freed_us: number
}

const never_us = Number.POSITIVE_INFINITY

/** Whether a link leads somewhere for as long as nobody deletes it. */
export const isLasting = ({ link: { expiresAt, maxVisits, validSince } }: Version): boolean =>
  expiresAt === null && maxVisits === null && validSince === null

/** How many redirects of its limit a link had used elsewhere when it was bound. */
export const usedElsewhere = ({ link: { maxVisits, visitsLeft } }: Life): number =>
  maxVisits === null || visitsLeft === null ? 0 : maxVisits - visitsLeft

/** How many visits a link brought along from elsewhere. */
export const visitsElsewhere = ({ link: { importedVisits } }: Life): number =>
  importedVisits === undefined ? 0 : importedVisits.nonBots + importedVisits.bots

/** What a link was like in a time. */
export const versionsIn = ({ versions }: Life, from_us: number, until_us: number): ReadonlyArray<Version> =>
  versions.filter(
    ({ since_us }, index) => since_us <= until_us && (versions[index + 1]?.since_us ?? until_us) >= from_us
  )

/** The lives in a journal. Another binding of a key that is not free is a broken promise of its own, and no life. */
export const livesOf = (journal: ReadonlyArray<JournalEntry>): Lives => {
  const lives = new Map<string, Array<Begun>>()
  for (const entry of journal) {
    if (entry.tag === "bound") {
      const { at_us, link } = entry
      const known = lives.get(link.key) ?? []
      if (known.length > 0 && known.at(-1)!.freed_us === never_us) continue
      const versions = [{ link, since_us: at_us }]
      lives.set(link.key, [
        ...known,
        { link, bound_us: at_us, versions, ended_us: never_us, freed_us: never_us }
      ])
    }
    if (entry.tag === "changed")
      lives.get(entry.link.key)?.at(-1)?.versions.push({ link: entry.link, since_us: entry.at_us })
    const life = "key" in entry ? lives.get(entry.key)?.at(-1) : undefined
    if (life === undefined) continue
    if (entry.tag === "deleted" || entry.tag === "expired")
      life.ended_us = Math.min(life.ended_us, entry.at_us)
    if (entry.tag === "freed") life.freed_us = entry.at_us
  }
  return lives
}

/** The life of a key at a time: the one that was begun last. */
export const lifeAt = (lives: Lives, key: string, at_us: number): Life | undefined =>
  lives.get(key)?.findLast(({ bound_us }) => bound_us <= at_us)

/** The life of a key that a delete was of, whose answer may come when the key has been freed and bound again: that in which it was sent, unless it had ended. */
export const deletedLife = (
  lives: Lives,
  key: string,
  { answered_us = never_us, sent_us }: Pick<Exchange, "answered_us" | "sent_us">
): Life | undefined => {
  const before = lifeAt(lives, key, sent_us)
  return before !== undefined && before.ended_us > sent_us ? before : lifeAt(lives, key, answered_us)
}

/** Whether a create or a change left its link like this: each has a target or a title that no other one has. */
const isLeftBy =
  ({ choices, url }: Pick<Exchange, "choices" | "url">) =>
  ({ link }: Version): boolean =>
    (url === undefined || link.url === url) &&
    (choices?.title === undefined || link.title === choices.title) &&
    (url !== undefined || choices?.title !== undefined)

/** Which version of a life a create or a change left first; -1: none. */
export const versionLeftBy = ({ versions }: Life, exchange: Pick<Exchange, "choices" | "url">): number =>
  versions.findIndex(isLeftBy(exchange))

/** The life in which a create or a change left a key's link by the time of its answer, if any: the last one. */
export const lifeLeftBy = (
  lives: Lives,
  key: string,
  exchange: Pick<Exchange, "answered_us" | "choices" | "url">
): Life | undefined => {
  const { answered_us = never_us } = exchange
  const isLeft = isLeftBy(exchange)
  return lives
    .get(key)
    ?.findLast(({ versions }) => versions.some((one) => one.since_us <= answered_us && isLeft(one)))
}

/** The life in which a key led to a location by a time, if any: the last one. */
export const lifeLedBy = (
  lives: Lives,
  key: string,
  location: string | undefined,
  by_us: number
): Life | undefined =>
  lives
    .get(key)
    ?.findLast(({ versions }) =>
      versions.some(({ link, since_us }) => since_us <= by_us && isTarget(link, location))
    )

/** Whether a change or a delete is of a user's API key, and the link another one's, so that there is none for it. */
export const isOfStranger = ({ user }: Pick<Exchange, "user">, { link }: Life): boolean =>
  user !== undefined && link.owner !== user

/** A link that a client was told of, and what clients did to it. */
export interface CreatedLink {
  readonly life: Life
  /** The create that was answered first. */
  readonly create: Exchange
  /** When the first delete of it was acknowledged, in microseconds since the world's beginning. */
  readonly deleted_us: number
  /** How many deletes of it were sent by those who may. */
  readonly deletes: number
}

/** The links that were created, by their lives. */
export const createdLinks = (
  exchanges: ReadonlyArray<Exchange>,
  lives: Lives
): ReadonlyMap<Life, CreatedLink> => {
  const created = new Map<Life, CreatedLink>()
  for (const create of exchanges) {
    const { answered_us, key, kind, status } = create
    if (kind !== "create" || status !== 201 || key === undefined) continue
    const life = lifeLeftBy(lives, key, create)
    const before = life && created.get(life)
    if (life === undefined || (before !== undefined && before.create.answered_us! < answered_us!)) continue
    created.set(life, { life, create, deleted_us: never_us, deletes: 0 })
  }
  for (const exchange of exchanges) {
    const { answered_us = never_us, key, kind, status } = exchange
    if (kind !== "delete" || key === undefined) continue
    const life = deletedLife(lives, key, exchange)
    const link = life && created.get(life)
    if (link === undefined || isOfStranger(exchange, life!)) continue
    const deleted_us = status === 204 ? Math.min(answered_us, link.deleted_us) : link.deleted_us
    created.set(link.life, { ...link, deleted_us, deletes: link.deletes + 1 })
  }
  return created
}
