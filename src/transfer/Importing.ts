// Makes the links of a file, a batch at a time, so that a run that is cut off can go on where it was, and a file that is loaded twice makes nothing twice.

import type { FieldFault, NewLink } from "./Fields.ts"
import { formatMoment } from "./Moment.ts"
import type { Entry } from "./Reading.ts"

/** Bounds of a batch: what a bulk of the API may have, and less. `values`: texts, numbers, lists, objects and the rest in its JSON, at all depths together. */
const batchMax = { passwords: 20, characters: 1_000_000, values: 60_000 }

/** The values in the JSON of a link, and no fewer than the service counts: rules can have hundreds. */
const valuesIn = (json: unknown): number =>
  typeof json !== "object" || json === null
    ? 1
    : Object.values(json).reduce<number>((sum, member) => sum + valuesIn(member), 1)

interface Size {
  readonly passwords: number
  readonly characters: number
  readonly values: number
}

const noSize: Size = { passwords: 0, characters: 0, values: 0 }

const sizeOf = (link: NewLink): Size => ({
  passwords: link.password === undefined ? 0 : 1,
  characters: JSON.stringify(link).length,
  values: valuesIn(link)
})

const sum = (one: Size, other: Size): Size => ({
  passwords: one.passwords + other.passwords,
  characters: one.characters + other.characters,
  values: one.values + other.values
})

const isTooLarge = ({ characters, passwords, values }: Size): boolean =>
  passwords > batchMax.passwords || characters > batchMax.characters || values > batchMax.values

/** Tries of a batch that did not get through, or that made no more of its links than the tries before: a quota comes back bit by bit. */
const triesMax = 20

/** What became of a link of a bulk, as the API says it. */
export type Result =
  | { readonly status: number; readonly replayed?: true; readonly link: { readonly key: string } }
  | {
      readonly status: number
      readonly problem: {
        readonly type: string
        readonly detail: string
        readonly errors?: ReadonlyArray<{ readonly path: string; readonly message: string }> | undefined
      }
    }

/** Links of a batch cannot be made yet, as often as it was sent. Nothing of the batch is settled: a later run sends it again, and makes only those that are missing. */
export class NotYetMade extends Error {
  readonly count: number
  /** Why the first of them is not: the slug of the problem's type, its status and its detail. */
  readonly kind: string
  readonly status: number
  readonly detail: string

  constructor(count: number, { problem, status }: Refusal) {
    super(`${count} ${count === 1 ? "link" : "links"} could not be made yet: ${problem.detail}`)
    this.count = count
    this.kind = kindOf(problem.type)
    this.status = status
    this.detail = problem.detail
  }
}

/** An entry that made no link, and why. */
export interface Rejected {
  readonly line: number
  /** The field at fault, where one is. */
  readonly field: string
  readonly reason: string
  /** What else is wrong, where anything is. */
  readonly others?: ReadonlyArray<FieldFault>
  readonly key: string
  readonly url: string
}

/** How far an import is. It can be written down between two batches, and gone on with. */
export interface Progress {
  /** Entries that are settled: the next batch begins behind them. */
  readonly settled: number
  readonly made: number
  /** Links that were here already, from an earlier run. */
  readonly present: number
  readonly rejected: number
  /** When links count as created of which the file does not say it, in milliseconds since 1970: each a millisecond before the one that precedes it. */
  readonly base_ms: number
}

/** What an import needs of the world. */
export interface Ports {
  /** Creates links. A repeat with the same key makes none twice. Fails where it is not known what became of them. */
  readonly send: (links: ReadonlyArray<NewLink>, idempotencyKey: string) => Promise<ReadonlyArray<Result>>
  /** The URL of the caller's own link of a key in a domain (`undefined`: the default one), if there is one. */
  readonly urlOf: (key: string, domain: string | undefined) => Promise<string | undefined>
  /** Waits before a batch is tried again: so long that a quota of one link a minute makes one within the tries. */
  readonly pause: (why: "away" | "quota") => Promise<void>
  /** Whether a failure of `send` may pass. */
  readonly mayPass: (error: unknown) => boolean
  /** Hears of each batch that is settled, and waits until that is written down. */
  readonly onSettled: (progress: Progress, rejected: ReadonlyArray<Rejected>) => Promise<void> | void
  readonly isStopped: () => boolean
}

/** A number of 128 bits that texts share only by chance, in hexadecimal digits: FNV-1a four times, each from another start. It guards against no forger. */
export const digestOf = (text: string): string => {
  const lanes = new Uint32Array([0x811c9dc5, 0x01000193, 0x9e3779b9, 0x85ebca6b])
  for (let place = 0; place < text.length; place++) {
    const code = text.charCodeAt(place)
    for (let lane = 0; lane < 4; lane++) lanes[lane] = Math.imul(lanes[lane]! ^ (code + lane), 0x01000193)
  }
  return [...lanes].map((lane) => lane.toString(16).padStart(8, "0")).join("")
}

const kindOf = (type: string): string => type.slice(type.lastIndexOf("/") + 1)

type Refusal = Extract<Result, { readonly problem: unknown }>

/** Whether a result says that the link can be made later. */
const isOpen = (result: Result): result is Refusal =>
  "problem" in result &&
  ["rate-limited", "unavailable", "idempotency-in-progress"].includes(kindOf(result.problem.type))

/** How far a time that was written without its time zone can lie in the future. */
const zone_ms = 14 * 3_600_000

/**
 * The link with a time of creation: where the file has none, by its place; and now, where the time lies in the future by no more than time zones differ, since some services write theirs
 * without saying so.
 */
const dated = (link: NewLink, { place }: Entry, base_ms: number): NewLink => {
  const { createdAt, updatedAt } = link.imported ?? {}
  const past = (text: string | undefined): number => {
    const moment = text === undefined ? Number.POSITIVE_INFINITY : Date.parse(text)
    return moment - base_ms <= zone_ms ? Math.min(moment, base_ms) : moment
  }
  const created_ms = createdAt === undefined ? Math.min(base_ms - place, past(updatedAt)) : past(createdAt)
  const format = (moment_ms: number) => formatMoment(Math.max(0, moment_ms))
  return {
    ...link,
    imported: {
      ...link.imported,
      createdAt: format(created_ms),
      ...(updatedAt !== undefined && { updatedAt: format(past(updatedAt)) })
    }
  }
}

interface Sent {
  readonly entry: Entry
  readonly link: NewLink
}

const rejectedOf = ({ key, line, url }: Entry, field: string, reason: string): Rejected => ({
  line,
  field,
  reason,
  key,
  url
})

/** The column of a field of a create. */
const columnOf = (path: string): string =>
  path === "alias"
    ? "key"
    : path
        .replace(/^imported\./, "")
        .replace(/^card\.(.)/, (_, first: string) => `card${first.toUpperCase()}`)

/** Why an entry is no link, before anything is sent. */
export const unreadOf = (entry: Entry): Rejected => {
  const [first, ...others] = entry.faults
  const rejected = rejectedOf(entry, first!.field, first!.message)
  return others.length === 0 ? rejected : { ...rejected, others }
}

/**
 * Makes links of entries, `atOnce` at a time, from where `start` is. Holds one batch at a time. The key of a batch comes from what it has and where it is in the file.
 * Gives how far it came. Fails as `send` does, and with {@link NotYetMade}; what it has settled before stays so.
 */
export const run = async (
  entries: AsyncIterable<Entry>,
  start: Progress,
  { atOnce, ports }: { readonly atOnce: number; readonly ports: Ports }
): Promise<Progress> => {
  let progress = start

  const attempt = async (links: ReadonlyArray<NewLink>, key: string) => {
    for (let tries = 1; ; tries++) {
      try {
        return await ports.send(links, key)
      } catch (error) {
        if (!ports.mayPass(error) || tries === triesMax || ports.isStopped()) throw error
        await ports.pause("away")
      }
    }
  }

  /**
   * The results of a batch, of which none is open; `undefined` where it was stopped before. It is sent again whole while the quota keeps some from being made: what was made is answered again
   * then. Fails where the last tries made no more of them.
   */
  const settledBatch = async (batch: ReadonlyArray<Sent>): Promise<ReadonlyArray<Result> | undefined> => {
    const bodies = batch.map(({ entry, link }) => dated(link, entry, start.base_ms))
    const key = `import-${digestOf(JSON.stringify([batch[0]!.entry.place, batch.map(({ link }) => link)]))}`
    let known: ReadonlyArray<Result> = []
    let fewestOpen = Number.POSITIVE_INFINITY
    for (let tries = 1; ; tries++) {
      const results = await attempt(bodies, key)
      // A repeat says `replayed` of what this run has made itself.
      known = results.map((result, index) => {
        const before = known[index]
        return before !== undefined && "link" in before ? before : result
      })
      const open = known.filter(isOpen)
      if (open.length === 0) return known
      if (open.length < fewestOpen) {
        fewestOpen = open.length
        tries = 1
      }
      if (ports.isStopped()) return undefined
      if (tries === triesMax) throw new NotYetMade(open.length, open[0]!)
      await ports.pause("quota")
      if (ports.isStopped()) return undefined
    }
  }

  const isPresent = async ({ link }: Sent): Promise<boolean> => {
    const url = link.alias === undefined ? undefined : await ports.urlOf(link.alias, link.domain)
    return url !== undefined && url === (URL.parse?.(link.url)?.href ?? new URL(link.url).href)
  }

  /** Settles what was read; `false` where it was stopped before. */
  const settle = async (batch: ReadonlyArray<Sent>, unread: ReadonlyArray<Rejected>): Promise<boolean> => {
    const results = batch.length === 0 ? [] : await settledBatch(batch)
    if (results === undefined) return false
    let { made, present } = progress
    const rejected = [...unread]
    for (const [index, result] of results.entries()) {
      const sent = batch[index]!
      if ("link" in result) {
        if (result.replayed === true) present++
        else made++
        continue
      }
      const kind = kindOf(result.problem.type)
      const [fault] = result.problem.errors ?? []
      if (kind === "idempotency-mismatch" || (kind === "alias-taken" && (await isPresent(sent)))) present++
      else {
        const path = fault === undefined ? "" : columnOf(fault.path)
        rejected.push(rejectedOf(sent.entry, path, fault?.message ?? result.problem.detail))
      }
    }
    rejected.sort((one, other) => one.line - other.line)
    progress = {
      ...progress,
      settled: progress.settled + batch.length + unread.length,
      made,
      present,
      rejected: progress.rejected + rejected.length
    }
    await ports.onSettled(progress, rejected)
    return true
  }

  let batch: Array<Sent> = []
  let unread: Array<Rejected> = []
  let size = noSize
  for await (const entry of entries) {
    if (entry.place < start.settled) continue
    if (ports.isStopped()) return progress
    const { link } = entry
    const added = link === undefined ? noSize : sizeOf(link)
    // Links of a batch are made at once: of two with one key, the first in the file is to have it.
    const isTwice = link?.alias !== undefined && batch.some((sent) => sent.link.alias === link.alias)
    const isFull = isTwice || batch.length + unread.length === atOnce || isTooLarge(sum(size, added))
    if (isFull) {
      if (!(await settle(batch, unread))) return progress
      batch = []
      unread = []
      size = noSize
    }
    if (link === undefined) unread.push(unreadOf(entry))
    else batch.push({ entry, link })
    size = sum(size, added)
  }
  if (batch.length + unread.length > 0 && !ports.isStopped()) {
    await settle(batch, unread)
  }
  return progress
}

/** The columns of a file of what made nothing. */
export const rejectedColumns = ["line", "field", "reason", "key", "url"] as const

/** What such a file says of an entry. */
export const rejectedCells = ({
  field,
  key,
  line,
  others = [],
  reason,
  url
}: Rejected): ReadonlyArray<string> => {
  const reasons = [reason, ...others.map(({ field, message }) => `${field} ${message}`)]
  return [String(line), field, reasons.join("; "), key, url]
}
