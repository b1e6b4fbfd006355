import type { Checker } from "../Evidence.ts"
import { versionsOf } from "./versions.ts"

/**
 * C2: what a client was told to be created or changed stands in the database at the end, unless it was changed once more, whatever happened in between, and
 * what it was told to be deleted is a tombstone.
 */
export const Durability: Checker = {
  name: "durability",
  check: ({ end_us, exchanges, journal, row }) => {
    const versions = versionsOf(journal)
    return exchanges.flatMap(({ key, kind, status, url }) => {
      if (kind === "delete" && status === 204 && row(key!)?.deletedAt === null) {
        const text = `${key} was deleted, and lives`
        return [{ checker: Durability.name, at_us: end_us, text, keys: [key!] }]
      }
      const isAcknowledged =
        (kind === "create" && (status === 201 || status === 200)) || (kind === "change" && status === 200)
      if (!isAcknowledged || key === undefined) return []
      const urls = versions.get(key)?.map((version) => version.url) ?? []
      const stored = row(key)
      if (urls.includes(url!) && stored?.url === urls.at(-1)) return []
      const text = `${key} was ${kind}d for ${url}, and stands for ${stored?.url ?? "nothing"} at the end`
      return [{ checker: Durability.name, at_us: end_us, text, keys: [key] }]
    })
  }
}
