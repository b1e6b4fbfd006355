import type { Domain } from "../model/Domain.ts"
import type { Link } from "../model/Link.ts"
import type { AuditEvent } from "../model/Audit.ts"
import type { Webhook, WebhookMessage } from "../model/Webhook.ts"
import type { LinkRank } from "../storage/links/LinkStore.ts"
import type { Quota } from "../storage/accounts/QuotaStore.ts"
import type { Counted } from "./clients/Traits.ts"
import type { RangeSlot, Watermark } from "../storage/keys/KeyRangeStore.ts"
import type { OrphanKind } from "./deployment/Orphans.ts"
import type { VirtualProcess } from "./world/VirtualProcess.ts"
import type { World } from "./world/World.ts"

/** What a store did, recorded at the moment when it did it. `by` is the id of the process that called it. Keys are strings. */
export type StoreEntry =
  /** Numbers of a range, from `first` on, that became keys. */
  | {
      readonly tag: "minted"
      readonly by: string
      readonly slot: RangeSlot
      readonly first: number
      readonly keys: ReadonlyArray<string>
    }
  /** The owner of a range was done with a message that asked for keys, which had come at `begun_us`; `isRefused`: it answered with an error, rather than with keys, or was told that nobody waits. */
  | {
      readonly tag: "mint answered"
      readonly by: string
      readonly range: number
      readonly begun_us: number
      readonly isRefused: boolean
    }
  | {
      readonly tag: "advanced"
      readonly by: string
      readonly slot: RangeSlot
      readonly first: number
      readonly count: number
      /** At a primary that had been left behind. */
      readonly isInVain?: true
    }
  | { readonly tag: "bound"; readonly by: string; readonly link: Link }
  /** A key that an insert found bound, by another create. */
  | { readonly tag: "conflicted"; readonly by: string; readonly link: Link }
  /** A change of a link, which is so then. */
  | { readonly tag: "changed"; readonly by: string; readonly link: Link }
  | { readonly tag: "deleted"; readonly by: string; readonly key: string }
  /** A link that became a tombstone because it had expired. */
  | { readonly tag: "expired"; readonly by: string; readonly key: string }
  /** A tombstone was removed: its key can be bound again. A minted key is in the stock now. */
  | { readonly tag: "freed"; readonly by: string; readonly key: string; readonly custom: boolean }
  | { readonly tag: "claimed"; readonly by: string; readonly shard: number; readonly epoch: number }
  /** Keys that were written to a batch record, minted or stocked ones. */
  | {
      readonly tag: "recorded"
      readonly by: string
      readonly shard: number
      readonly epoch: number
      readonly batch: string
      readonly keys: ReadonlyArray<string>
      /** At a primary that had been left behind. */
      readonly isInVain?: true
    }
  | { readonly tag: "closed"; readonly by: string; readonly shard: number; readonly batch: string }
  /** A pool in memory has told that a record may be closed: a kill takes none of its keys any more. */
  | { readonly tag: "settled"; readonly by: string; readonly shard: number; readonly batch: string }
  /** An epoch that a pool shard's Redis has stored. */
  | { readonly tag: "poolClaimed"; readonly by: string; readonly shard: number; readonly epoch: number }
  /** Keys that a push added to the pool shard's list. A repeated push adds none, and is not recorded. */
  | {
      readonly tag: "pushed"
      readonly by: string
      readonly shard: number
      /** The epoch of the owner that pushed, which may finish a batch of an earlier one. */
      readonly epoch: number
      readonly batch: string
      readonly keys: ReadonlyArray<string>
    }
  /** Keys that were added to the stock, and were new to it. */
  | { readonly tag: "stocked"; readonly by: string; readonly keys: ReadonlyArray<string> }
  /** Stocked keys that a process has read ahead into its memory, from its file. */
  | { readonly tag: "preloaded"; readonly by: string; readonly keys: ReadonlyArray<string> }
  /** An operation of a pool shard, in the database or in its Redis, that was refused because of its epoch. */
  | { readonly tag: "fenced"; readonly by: string; readonly shard: number; readonly epoch: number }
  | {
      readonly tag: "leased"
      readonly by: string
      readonly shard: number
      readonly keys: ReadonlyArray<string>
    }
  | {
      readonly tag: "returned"
      readonly by: string
      readonly shard: number
      readonly keys: ReadonlyArray<string>
    }
  /** A process was told of keys that a lease brought it, so long after it had asked. */
  | {
      readonly tag: "handed"
      readonly by: string
      readonly keys: ReadonlyArray<string>
      readonly took_us: number
    }
  /** A create of keys that a process had been handed failed, and certainly did not bind them (`refused`), or may have (`unsure`); or a return of them failed (`unreceived`). */
  | {
      readonly tag: "refused" | "unsure" | "unreceived"
      readonly by: string
      readonly keys: ReadonlyArray<string>
    }
  /** A process put back keys that it had taken out of its buffer: they come behind those that it has. */
  | { readonly tag: "put back"; readonly by: string; readonly keys: ReadonlyArray<string> }
  /** A return of keys to their pool shard failed, or found nobody: a call of the pool, or the message to its owner. `interrupted_us`: how long it had been waited for when it was given up. */
  | {
      readonly tag: "unreturned"
      readonly by: string
      readonly keys: ReadonlyArray<string>
      readonly interrupted_us: number | undefined
    }
  /** A create was asked for with a key that an earlier one with an unknown outcome had, though no further copy of it was handed out. */
  | { readonly tag: "reused"; readonly by: string; readonly key: string }
  /**
   * A failover or a loss of data: keys that are missing from the list, and keys that are in it again though they had been leased. `unleased` are all keys
   * whose lease was lost: each may be leased once more.
   */
  | {
      readonly tag: "forgot"
      readonly by: string
      readonly shard: number
      readonly gone: ReadonlyArray<string>
      readonly again: ReadonlyArray<string>
      readonly unleased: ReadonlyArray<string> | "all"
    }

/** What becomes of the database itself. */
export type DatabaseEntry =
  /**
   * A failover to a standby that had not been given the last commits, or a commit at a primary that had been left behind: the keys of links that these had bound, changed, ended, freed or taken a visit of; the keys in stock and in records that they had moved; the visits that they
   * had counted, by process; and the watermarks and epochs that are left. `commits`: how many.
   */
  | {
      readonly tag: "database forgot"
      readonly by: string
      readonly commits: number
      readonly links: ReadonlyArray<string>
      readonly keys: ReadonlyArray<string>
      readonly visits: ReadonlyArray<
        readonly [by: string, visits: ReadonlyArray<readonly [key: string, visits: number]>]
      >
      readonly watermarks: ReadonlyArray<Watermark>
      readonly epochs: ReadonlyArray<readonly [shard: number, epoch: number]>
    }
  /** A standby is the primary of the database that has the ranges and the stock, whatever it has forgotten. */
  | { readonly tag: "promoted"; readonly by: string }
  /** A process was answered by a primary that had been left behind. */
  | { readonly tag: "left behind"; readonly by: string }
  /** A process found the database behind its witnesses: it gave up all keys in stock and in records, and raised watermarks and epochs to these. */
  | {
      readonly tag: "recovered"
      readonly by: string
      readonly keys: ReadonlyArray<string>
      readonly watermarks: ReadonlyArray<Watermark>
      readonly epochs: ReadonlyArray<readonly [shard: number, epoch: number]>
    }

/** What becomes of visits. */
export type VisitEntry =
  /** A node answered a redirect: it counts, if `isSure`; where the client left before, it may. */
  | {
      readonly tag: "visited"
      readonly by: string
      readonly key: string
      readonly isSure: boolean
      /** What followed the key, and where it led: then it may be the visit of a link with a longer alias, or with a shorter one. */
      readonly path?: string | undefined
      readonly location?: string | undefined
      /** How it must be counted, where visitors differ. */
      readonly counted?: Counted | undefined
    }
  /** A node answered a visitor whom no link has led: it counts in one of some domains, as one of some kinds, if `isSure`; else it may. */
  | {
      readonly tag: "not led"
      readonly by: string
      readonly domains: ReadonlyArray<number>
      readonly kinds: ReadonlyArray<OrphanKind>
      readonly isSure: boolean
      /** How the visitor must be counted, where visitors differ. */
      readonly counted?: Counted | undefined
    }
  /** A process begins to write what it has counted, or does so once more under the same number. */
  | {
      readonly tag: "counting"
      readonly by: string
      readonly sequence: number
      /** Which of its writers, where it has several. */
      readonly writer?: string
    }
  /** The store has taken what a process has counted: so many visits of keys. Nothing where it had taken it before. */
  | {
      readonly tag: "counted"
      readonly by: string
      readonly visits: ReadonlyArray<readonly [key: string, visits: number]>
      /** Likewise of all links of users, if of any. */
      readonly owned?: ReadonlyArray<readonly [user: string, visits: number]>
      /** And of visitors of domains whom no link has led, if there were any: see `orphansOf`. */
      readonly orphans?: ReadonlyArray<readonly [orphans: string, visits: number]>
      /** Where the process has several writers: then it can be a part of the batch. */
      readonly writer?: string
    }
  /** Links were given ranks by their visits, those that were still there. */
  | { readonly tag: "ranked"; readonly by: string; readonly ranks: ReadonlyArray<LinkRank> }
  /** The process has heard that the store has taken its newest batch, or its writer's. */
  | { readonly tag: "heard counted"; readonly by: string; readonly writer?: string }

/** The visits that the store has taken, each of them once but for orphans, who are counted among all of their domain as well. */
export const takenIn = ({
  orphans = [],
  visits
}: Pick<Extract<VisitEntry, { readonly tag: "counted" }>, "orphans" | "visits">): ReadonlyArray<
  readonly [name: string, visits: number]
> => [...visits, ...orphans]

/** What becomes of users, their sessions and quotas, and of events for their webhooks. */
export type UserEntry =
  /** The store granted a process so many times of a quota. */
  | {
      readonly tag: "granted"
      readonly by: string
      readonly quota: string
      readonly limit: number
      readonly period: Quota["period"]
      readonly demand: number
      readonly granted: number
      readonly nextIn_ms: number
    }
  /** A process allowed something that counts for quotas, or refused it. */
  | {
      readonly tag: "took"
      readonly by: string
      /** For what, such as `create`. */
      readonly use: string
      readonly quotas: ReadonlyArray<string>
      /** Whose these are, and how much they allow, in the same order. */
      readonly limits: ReadonlyArray<Pick<Quota, "id" | "limit">>
      readonly isAllowed: boolean
      /** Of limits on guessing, which each node enforces alone as well: how often, in the same order. */
      readonly held?: ReadonlyArray<Pick<Quota, "limit" | "period">>
      /** Of what is only reserved: which reservation it is. */
      readonly reservation?: number
    }
  /** A process gave back what it had taken of quotas, or has kept what it had reserved. */
  | {
      readonly tag: "gave back" | "kept"
      readonly by: string
      readonly quotas: ReadonlyArray<string>
      readonly reservation?: number
    }
  /** A domain was added, changed or verified, which is so then, or was removed; and its host shows another token as a proof. */
  | { readonly tag: "domain written"; readonly by: string; readonly domain: Domain }
  | { readonly tag: "domain removed"; readonly by: string; readonly number: number }
  | { readonly tag: "proof shown"; readonly by: string; readonly token: string }
  /** A session began in the database, by the digest of its token, or was ended there by itself. */
  | { readonly tag: "session begun"; readonly by: string; readonly session: string; readonly user: string }
  | { readonly tag: "session ended"; readonly by: string; readonly session: string }
  /** All links of an owner are to be deleted, who is gone. */
  | { readonly tag: "owner gone"; readonly by: string; readonly owner: string }
  /** A user was disabled, enabled or removed, or has another password: with the first and the last all their sessions end. */
  | {
      readonly tag: "user disabled" | "user enabled" | "user removed"
      readonly by: string
      readonly user: string
    }
  /** A user was added, with an address. */
  | { readonly tag: "user added"; readonly by: string; readonly user: string; readonly email: string }
  | {
      readonly tag: "password changed"
      readonly by: string
      readonly user: string
      /** Whether its user must choose another one before anything else. */
      readonly isTemporary: boolean
      /** Whether the user's API keys and webhooks have ended with the former one. */
      readonly revokesKeys: boolean
    }
  /** Events were recorded in the audit log; and old entries were looked for there. */
  | { readonly tag: "audited"; readonly by: string; readonly events: ReadonlyArray<AuditEvent> }
  | { readonly tag: "audit swept"; readonly by: string }
  /** An API key was added to the database, and was revoked there. */
  | { readonly tag: "key added"; readonly by: string; readonly apiKey: string; readonly user: string }
  | { readonly tag: "key revoked"; readonly by: string; readonly apiKey: string }
  /** A webhook was added to the database or removed there; its receiver has answered a challenge, which was the latest one or not. */
  | { readonly tag: "webhook added"; readonly by: string; readonly webhook: Webhook }
  | { readonly tag: "webhook removed"; readonly by: string; readonly webhook: string }
  | {
      readonly tag: "webhook verified"
      readonly by: string
      readonly webhook: string
      readonly message: string
      readonly isLatest: boolean
    }
  /** A message that had been given up was queued again. */
  | {
      readonly tag: "revived"
      readonly by: string
      readonly webhook: string
      readonly message: string
    }
  /** Webhooks were marked as ended whose user or API key has ended. */
  | { readonly tag: "webhooks lapsed"; readonly by: string }
  /** Events of changes of links were committed with these, by their ids, each of an owner; they were queued for the webhooks that there were; and a message with some arrived at a URL. */
  | {
      readonly tag: "offered"
      readonly by: string
      readonly events: ReadonlyArray<string>
      readonly owners: ReadonlyArray<string>
    }
  | {
      readonly tag: "queued"
      readonly by: string
      readonly events: ReadonlyArray<Pick<WebhookMessage, "id" | "owner" | "event">>
    }
  | {
      readonly tag: "received"
      readonly by: string
      readonly url: string
      readonly events: ReadonlyArray<string>
      readonly headers: Readonly<Record<string, string | undefined>>
      readonly body: string
    }
  /** A process begins, or ends, to send a message to a URL. */
  | { readonly tag: "sending" | "sent"; readonly by: string; readonly url: string }
  /** The store gave messages to a process for a while; it has heard that one was delivered, or was not tried; and it has the failure of one, when that is sent again (`null`: never), and for how long its webhook is paused. */
  | {
      readonly tag: "leased messages"
      readonly by: string
      readonly messages: ReadonlyArray<Leased>
    }
  | ({ readonly tag: "delivered" | "untried"; readonly by: string } & Leased)
  | ({
      readonly tag: "put off"
      readonly by: string
      readonly attempt: number
      readonly for_ms: number | null
      readonly pause_ms: number
    } & Leased)

/** A message that was given to a process under a lease. */
export interface Leased {
  readonly webhook: string
  readonly message: string
  readonly lease: string
  readonly isChallenge: boolean
}

/** What happened to a process. */
export type ProcessEntry =
  | { readonly tag: "started"; readonly by: string }
  /** By `kill -9`, or at a crash point. */
  | { readonly tag: "killed"; readonly by: string }
  /** It has ended by itself, after a graceful shutdown (or because it could not start). `unanswered`: requests whose connections it closed without an answer. */
  | { readonly tag: "ended"; readonly by: string; readonly unanswered: number }
  /** It received SIGTERM, and still answers for a while. */
  | { readonly tag: "draining"; readonly by: string }
  /** A process that drains accepts no connections any more. */
  | { readonly tag: "refusing"; readonly by: string }
  /** It answered the load balancer that it is not ready; or that it is, and when that was asked. */
  | { readonly tag: "unready"; readonly by: string }
  | { readonly tag: "ready"; readonly by: string; readonly asked_us: number }
  | { readonly tag: "paused"; readonly by: string; readonly for_us: number }
  /** The clock of a process's machine is so far ahead of the truth from now on; and the process goes by a time that is. */
  | { readonly tag: "machine clock"; readonly by: string; readonly ahead_us: number }
  | { readonly tag: "kept wrong time"; readonly by: string; readonly off_ms: number }
  /** A request that a process began when its client had closed the connection, as its machine knew since then. */
  | { readonly tag: "begun late"; readonly by: string; readonly method: string; readonly closed_us: number }
  /** A call of a store or a message to an actor (`send` and its tag) of which it did not learn what came of it; `interrupted_us`: how long it had waited when it gave it up by itself. */
  | {
      readonly tag: "unanswered"
      readonly by: string
      readonly operation: string
      readonly interrupted_us: number | undefined
      /** It failed, and certainly did nothing. */
      readonly isUnsent?: true | undefined
    }
  /** A call of the database that took long, and came to its end, or was waited for when its process died. */
  | { readonly tag: "held up"; readonly by: string; readonly operation: string; readonly for_us: number }
  /** It sent a command to Redis on a connection on which one had not been answered in time. */
  | { readonly tag: "sent behind"; readonly by: string; readonly operation: string }
  /** An actor was started in it, and was stopped. */
  | { readonly tag: "activated"; readonly by: string; readonly actor: string }
  | { readonly tag: "deactivated"; readonly by: string; readonly actor: string }
  /** The stores in memory and those of production gave something else, by the same calls until then. */
  | {
      readonly tag: "differed"
      readonly by: string
      readonly operation: string
      readonly inMemory: string
      readonly bySql: string
    }

/** An entry of the record for the checkers, which no process can read. `at_us`: microseconds since the world's beginning. */
export type JournalEntry = (StoreEntry | DatabaseEntry | VisitEntry | UserEntry | ProcessEntry) & {
  readonly at_us: number
}

/** The record of a run, in the order in which things happened. */
export class Journal {
  readonly entries: Array<JournalEntry> = []
  /** Is told of each entry, at its moment. */
  whenAdded: ((entry: JournalEntry) => void) | undefined
  readonly #world: World

  constructor(world: World) {
    this.#world = world
  }

  /** Notes a call, or a message, of a process that it has no answer to. */
  readonly unanswered = (
    { id: by }: VirtualProcess,
    operation: string,
    interrupted_us?: number,
    isUnsent?: true
  ) => this.add({ tag: "unanswered", by, operation, interrupted_us, isUnsent })

  /** Notes a call of a process that was held up. */
  readonly heldUp = ({ id: by }: VirtualProcess, operation: string, for_us: number) =>
    this.add({ tag: "held up", by, operation, for_us })

  add(entry: StoreEntry | DatabaseEntry | VisitEntry | UserEntry | ProcessEntry) {
    const added = { ...entry, at_us: this.#world.now_us }
    this.entries.push(added)
    this.whenAdded?.(added)
  }
}
