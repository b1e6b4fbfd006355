import type { JournalEntry } from "../Journal.ts"

/** A target that a key stood for, from a moment on: microseconds since the world's beginning. */
export interface Version {
  readonly url: string
  readonly since_us: number
}

/** The targets of each key, in the order in which the database had them. The first is the one that it was bound to. */
export const versionsOf = (
  journal: ReadonlyArray<JournalEntry>
): ReadonlyMap<string, ReadonlyArray<Version>> => {
  const versions = new Map<string, Array<Version>>()
  const add = (key: string, url: string, since_us: number) => {
    const known = versions.get(key)
    if (known === undefined) versions.set(key, [{ url, since_us }])
    else known.push({ url, since_us })
  }
  for (const entry of journal) {
    // Another binding of the same key is a broken promise of its own.
    if (entry.tag === "bound" && !versions.has(entry.link.key)) {
      add(entry.link.key, entry.link.url, entry.at_us)
    }
    if (entry.tag === "changed") add(entry.key, entry.url, entry.at_us)
  }
  return versions
}
