import { Effect } from "effect"
import type { Domain } from "../../../model/Domain.ts"
import type { DomainStore } from "../../../storage/domains/DomainStore.ts"
import type { Journal } from "../../Journal.ts"
import { query, statement, transaction } from "../database/Transactions.ts"
import type { Call } from "./Call.ts"

/** All changes lock the row that has the version of all domains. */
const locked = () => ["domains"]
const changing = transaction(locked, undefined, undefined)

/** Further domains, as a process reads and changes them. */
export const make = (
  call: Call,
  domains: typeof DomainStore.Service,
  by: string,
  journal: Pick<Journal, "add">
): typeof DomainStore.Service => {
  const note = (domain: Domain) => Effect.sync(() => journal.add({ tag: "domain written", by, domain }))
  return {
    read: (known) => call("DomainStore.read", query, () => domains.read(known)),
    add: (given, domainsMax) =>
      call("DomainStore.add", changing, () =>
        Effect.tap(domains.add(given, domainsMax), (added) =>
          typeof added === "string" ? Effect.void : note(added)
        )
      ),
    change: (number, change, at) =>
      call("DomainStore.change", changing, () =>
        Effect.tap(domains.change(number, change, at), (changed) =>
          changed === null ? Effect.void : note(changed)
        )
      ),
    verify: (number, token, at) =>
      call("DomainStore.verify", changing, () =>
        Effect.tap(domains.verify(number, token, at), (verified) =>
          verified === null ? Effect.void : note(verified)
        )
      ),
    remove: (number) =>
      call("DomainStore.remove", changing, () =>
        Effect.tap(domains.remove(number), (isRemoved) =>
          Effect.sync(() => isRemoved && journal.add({ tag: "domain removed", by, number }))
        )
      ),
    addLongAliases: (number) =>
      call("DomainStore.addLongAliases", statement(locked), () => domains.addLongAliases(number))
  }
}
