import type { Checker } from "../Evidence.ts"
import { versionsOf } from "./versions.ts"

/** C2: what a client was told to be created or changed stands in the database at the end, unless it was changed once more, whatever happened in between. */
export const Durability: Checker = {
  name: "durability",
  check: ({ end_us, exchanges, journal, row }) => {
    const versions = versionsOf(journal)
    return exchanges.flatMap(({ key, kind, status, url }) => {
      const isAcknowledged = (kind === "create" && status === 201) || (kind === "change" && status === 200)
      if (!isAcknowledged || key === undefined) return []
      const urls = versions.get(key)?.map((version) => version.url) ?? []
      const stored = row(key)
      if (urls.includes(url!) && stored?.url === urls.at(-1)) return []
      const text = `${key} was ${kind}d for ${url}, and stands for ${stored?.url ?? "nothing"} at the end`
      return [{ checker: Durability.name, at_us: end_us, text, keys: [key] }]
    })
  }
}
