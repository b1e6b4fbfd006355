import type { Evidence } from "../../Evidence.ts"
import { ms_us, s_us } from "../../world/Time.ts"

/** Within what time a node to which nothing happens goes by a change of the domains: a second until it reads them again, and another one for that. */
export const knownWithin_us = 2 * s_us

/** What a read may take without keeping a node from knowing in time: the read that misses a change, and the next one after a second, both take less. */
const shortRead_us = 400 * ms_us

/**
 * Whether a node was kept from reading the domains in the 2 s before a time: it was paused, or a read of it failed or took long. A node that stops
 * reading by itself is not excused.
 */
export const keptFromReading = ({
  journal
}: Pick<Evidence, "journal">): ((node: string, at_us: number) => boolean) => {
  const times = new Map<string, Array<{ readonly from_us: number; readonly until_us: number }>>()
  const add = (node: string, from_us: number, until_us: number) =>
    times.set(node, [...(times.get(node) ?? []), { from_us, until_us }])
  for (const entry of journal) {
    const { at_us, by, tag } = entry
    if (tag === "paused") add(by, at_us, at_us + entry.for_us)
    if (!("operation" in entry) || entry.operation !== "DomainStore.read") continue
    if (tag === "held up" && entry.for_us > shortRead_us) add(by, at_us - entry.for_us, at_us)
    if (tag === "unanswered") add(by, at_us - (entry.interrupted_us ?? 0), at_us)
  }
  return (node, at_us) =>
    times
      .get(node)
      ?.some(({ from_us, until_us }) => from_us <= at_us && until_us >= at_us - knownWithin_us) === true
}

/** Whether a node may not know what has become of the domains, such as that an alias can have several segments, as it has not reached the database: it answers by the first segment, which it has at hand. */
export const domainsUnread =
  ({ silences }: Pick<Evidence, "silences">) =>
  (node: string | undefined, at_us: number): boolean =>
    silences.some(
      ({ by, database, from_us, until_us }) =>
        by === node && database === 0 && from_us <= at_us && at_us <= until_us + knownWithin_us
    )
