import type { Link } from "../model/Link.ts"
import type { AuditEntry } from "../storage/accounts/AuditLog.ts"
import type { DomainChange } from "./deployment/ChangingDomain.ts"
import type { Strike } from "./deployment/Faults.ts"
import type { UserKey } from "./deployment/Users.ts"
import type { Exchange } from "./History.ts"
import type { RangeSlot } from "../storage/keys/KeyRangeStore.ts"
import type { BatchId } from "../storage/keys/KeyStock.ts"
import type { Lives } from "./checkers/facts/lives.ts"
import type { JournalEntry } from "./Journal.ts"
import type { ClockRecord } from "./stores/database/DatabaseClock.ts"
import type { SessionFigures } from "./stores/database/SessionFigures.ts"
import type { ComparisonFigures } from "./stores/sql/Comparison.ts"
import type { Away, Silence } from "./stores/news/VirtualNews.ts"
import type * as Visits from "../visits/Visits.ts"
import type { SimOptions } from "./cli/Options.ts"

/** The evidence of a run: what clients saw, what the stores did, and their final content. */
export interface Evidence {
  readonly options: SimOptions
  readonly exchanges: ReadonlyArray<Exchange>
  readonly journal: ReadonlyArray<JournalEntry>
  /** The lives of the keys, from the journal. */
  readonly lives: Lives
  /** When a run was ended because it had more than so many tasks. */
  readonly unfinished_us: number | undefined
  readonly tasksMax: number
  /** When faults ended, and when the run did: microseconds since the world's beginning. */
  readonly healed_us: number
  readonly end_us: number
  /** True time at the world's beginning, milliseconds since the Unix epoch. */
  readonly beginning_ms: number
  /** How many faults of each kind there were. */
  readonly faults: ReadonlyMap<string, number>
  /** The faults themselves, in their order. */
  readonly strikes: ReadonlyArray<Strike>
  /** When nodes had nothing from one of the databases for more than a second, in no order, with its number. */
  readonly silences: ReadonlyArray<Silence & { readonly database: number }>
  /** When nodes took one of the databases for away, in no order, with its number. */
  readonly aways: ReadonlyArray<Away & { readonly database: number }>
  /** When nodes began to listen for one of the databases' news, and forgot what they knew of links, in no order. */
  readonly listenings: ReadonlyArray<{ readonly by: string; readonly at_us: number }>
  /** The database's clock. */
  readonly clock: ClockRecord
  /** What the database's sessions took at most. */
  readonly sessions: SessionFigures
  /** The numbers of the databases that have had a key at any time. */
  readonly homes: (key: string) => ReadonlySet<number>
  /** The row of a key at the end. */
  readonly row: (key: string) => Link | null
  /** Keys in the pools, in open batch records, and in the stock at the end. */
  readonly pooled: ReadonlySet<string>
  readonly recorded: ReadonlySet<string>
  /** The batches that are open at the end. */
  readonly open: ReadonlyArray<BatchId>
  readonly stocked: ReadonlySet<string>
  /** Those of them that are free again in a further database: they are struck from open batches where they arrive. */
  readonly leaving: ReadonlySet<string>
  /** How many keys each kind of stock has, including used keys where it keeps them. */
  readonly storedKeys: Readonly<Record<"table" | "status" | "two-table" | "file", number>>
  /** How often each operation of a store was called, and each message sent to another node (`send` and its tag). */
  readonly calls: ReadonlyMap<string, number>
  /** How often which fault struck which operation under way, by the names of `Meetings`; and all operations that there were. */
  readonly met: ReadonlyMap<string, number>
  readonly operations: ReadonlySet<string>
  /** How the database's stores were compared with those of production, if they were. */
  readonly compared: ComparisonFigures | undefined
  /** The API keys of users. */
  readonly userKeys: ReadonlyArray<UserKey>
  /** When the domain that comes and goes did so, in that order. */
  readonly domainChanges: ReadonlyArray<DomainChange>
  /** Events that wait at the end, by their ids: for the webhooks that users have from the beginning on, or to be carried from one database to another. */
  readonly undelivered: ReadonlySet<string>
  /** Events that wait for any webhook at the end: its id and the event's. */
  readonly waitingFor: ReadonlySet<string>
  /** The audit log at the end, if there are users. */
  readonly audit: ReadonlyArray<AuditEntry> | undefined
  /** Visits that nodes say they have dropped, by reason. */
  readonly visitsShed: Readonly<Record<keyof typeof Visits.visitsShed, number>>
  /** Keys in the buffers of nodes at the end. */
  readonly buffered: ReadonlySet<string>
  /** Keys that nodes had put aside when they were killed, since their links could not be bound then. */
  readonly asideLost: number
  /** Nodes that have run for some time at the end, and are not ready according to the load balancer. */
  readonly unready: ReadonlyArray<string>
  /** The keys for `count` numbers of a range from `first` on, in the deployment's order; none if keys are drawn at random. */
  readonly mint: ((slot: RangeSlot, first: number, count: number) => ReadonlyArray<string>) | undefined
}

/** A broken promise. `keys` identifies the related events of the trace. */
export interface Violation {
  readonly checker: string
  readonly at_us: number
  readonly text: string
  readonly keys: ReadonlyArray<string>
}

/** Checks a run for one promise. */
export interface Checker {
  readonly name: string
  /** Whether it is shown what a failover of the database has made the database forget, too; see `remembered`. */
  readonly seesForgotten?: boolean
  readonly check: (evidence: Evidence) => ReadonlyArray<Violation>
}
