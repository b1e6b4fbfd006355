import type { Checker } from "../Evidence.ts"

/** The stores of production over SQLite give what those in memory do, by which the simulation goes. */
export const Stores: Checker = {
  name: "stores",
  check: ({ journal }) =>
    journal.flatMap((entry) => {
      if (entry.tag !== "differed") return []
      const { at_us, bySql, inMemory, operation } = entry
      const text = `${operation} gave ${bySql} over SQL, where it should have given ${inMemory}`
      return [{ checker: Stores.name, at_us, text, keys: [] }]
    })
}
