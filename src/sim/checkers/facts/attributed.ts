import { domainKeyOf, qualifiedKey } from "../../../keys/QualifiedKey.ts"
import type { Exchange } from "../../History.ts"
import type { JournalEntry } from "../../Journal.ts"
import { type Life, lifeLedBy, type Lives } from "./lives.ts"

/** A link that a redirect may be of, and what follows its key then. */
export interface Meant {
  readonly key: string
  readonly path: string | undefined
}

/** What a redirect may be of: the longest alias first. `key`, `path`: as it was asked for. */
export const meantBy = ({ key: text, path }: Meant): ReadonlyArray<Meant> => {
  const { domain, key } = domainKeyOf(text)
  const segments = [...key.split("/"), ...(path === undefined ? [] : path.split("/"))]
  return segments
    .map((_, index) => ({
      key: qualifiedKey({ domain, key: segments.slice(0, index + 1).join("/") }),
      // A slash may follow any key.
      path: segments.slice(index + 1).join("/") || undefined
    }))
    .toReversed()
}

/** Whether a path may be of several links. */
const isOfSeveral = ({ key, path }: Pick<Exchange, "key" | "path">): boolean =>
  path !== undefined || key?.includes("/") === true

const isAmbiguous = (exchange: Exchange): boolean => exchange.kind === "redirect" && isOfSeveral(exchange)

const overlaps =
  ({ answered_us = Number.POSITIVE_INFINITY, sent_us }: Exchange) =>
  ({ bound_us, freed_us }: Life) =>
    bound_us <= answered_us && freed_us >= sent_us

/**
 * A redirect with the link that answered it: that whose target it led to. One that led nowhere is of the longest alias that had a row meanwhile; which one that was is not known of
 * one whose row came or went just then.
 */
const attribute = (exchange: Exchange, lives: Lives): Exchange => {
  if (!isAmbiguous(exchange)) return exchange
  const { answered_us, key, location, path, status } = exchange
  const all = meantBy({ key: key!, path })
  const isIt = ({ key }: Meant) =>
    status === 302
      ? lifeLedBy(lives, key, location, answered_us!) !== undefined
      : lives.get(key)?.some(overlaps(exchange)) === true
  const found = all.find(isIt)
  return found === undefined ? exchange : { ...exchange, ...found }
}

/**
 * The exchanges and the journal, with the link of each redirect of a path that may be of several links. A visit that need not count may be of any, and so may one whose target no life led to: the
 * database has forgotten what its link was, or its redirect is a broken promise of its own.
 */
export const attributed = (
  exchanges: ReadonlyArray<Exchange>,
  journal: ReadonlyArray<JournalEntry>,
  lives: Lives
): {
  readonly exchanges: ReadonlyArray<Exchange>
  readonly journal: ReadonlyArray<JournalEntry>
} =>
  exchanges.some(isAmbiguous)
    ? {
        exchanges: exchanges.map((exchange) => attribute(exchange, lives)),
        journal: journal.flatMap((entry): ReadonlyArray<JournalEntry> => {
          if (entry.tag !== "visited" || !isOfSeveral(entry)) return [entry]
          const { at_us, isSure, key, location, path } = entry
          const all = meantBy({ key, path })
          const found = isSure
            ? all.find((one) => lifeLedBy(lives, one.key, location, at_us) !== undefined)
            : undefined
          return found === undefined
            ? all.map((one) => ({ ...entry, key: one.key, isSure: false }))
            : [{ ...entry, key: found.key }]
        })
      }
    : { exchanges, journal }
