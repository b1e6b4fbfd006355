import type { DomainStore } from "../../../storage/domains/DomainStore.ts"
import { query, statement } from "../database/Transactions.ts"
import type { Call } from "./Call.ts"

/** Further domains, as a process reads them. No process changes them, but for where aliases can have several segments. */
export const make = (call: Call, domains: typeof DomainStore.Service): typeof DomainStore.Service => ({
  ...domains,
  read: (known) => call("DomainStore.read", query, () => domains.read(known)),
  addLongAliases: (number) =>
    call(
      "DomainStore.addLongAliases",
      statement(() => ["domains"]),
      () => domains.addLongAliases(number)
    )
})
