import type { Domain } from "../../../model/Domain.ts"
import { changingHost } from "../../deployment/FurtherDomains.ts"
import type { JournalEntry } from "../../Journal.ts"

/** What something was from a moment on: microseconds since the world's beginning. */
interface Since<A> {
  readonly at_us: number
  readonly is: A
}

/** What something was at some moment of a time. */
const during = <A>(all: ReadonlyArray<Since<A>>, from_us: number, until_us: number): ReadonlyArray<A> =>
  all
    .filter(({ at_us }, index) => at_us <= until_us && (all[index + 1]?.at_us ?? until_us) >= from_us)
    .map(({ is }) => is)

/** What became of the domain that an administrator adds and removes, and of what its host shows. */
export interface DomainStates {
  /** What it was at some moment of a time; `null`: it was not there. */
  readonly in: (from_us: number, until_us: number) => ReadonlyArray<Domain | null>
  /** What its host showed as a proof. */
  readonly shownIn: (from_us: number, until_us: number) => ReadonlyArray<string | null>
  /** When it became what. */
  readonly all: ReadonlyArray<Since<Domain | null>>
}

/** See {@link DomainStates}. */
export const domainStates = (journal: ReadonlyArray<JournalEntry>): DomainStates => {
  const all: Array<Since<Domain | null>> = [{ at_us: 0, is: null }]
  const shown: Array<Since<string | null>> = [{ at_us: 0, is: null }]
  for (const entry of journal) {
    const { at_us } = entry
    if (entry.tag === "domain written" && entry.domain.host === changingHost)
      all.push({ at_us, is: entry.domain })
    if (entry.tag === "domain removed" && entry.number === all.at(-1)!.is?.number)
      all.push({ at_us, is: null })
    if (entry.tag === "proof shown") shown.push({ at_us, is: entry.token })
  }
  return {
    all,
    in: (from_us, until_us) => during(all, from_us, until_us),
    shownIn: (from_us, until_us) => during(shown, from_us, until_us)
  }
}
