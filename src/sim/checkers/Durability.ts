import type { Checker } from "../Evidence.ts"

/** C2: what a client was told to be created stands in the database at the end, whatever happened in between. */
export const Durability: Checker = {
  name: "durability",
  check: ({ end_us, exchanges, row }) =>
    exchanges.flatMap(({ key, kind, status, url }) => {
      if (kind !== "create" || status !== 201 || key === undefined) return []
      const stored = row(key)
      if (stored?.url === url) return []
      const text = `${key} was created for ${url}, and stands for ${stored?.url ?? "nothing"} at the end`
      return [{ checker: Durability.name, at_us: end_us, text, keys: [key] }]
    })
}
