// What the service answers, by the very schemas of its contract. Types alone: nothing of them comes into the page.

import type {
  KeyBody,
  MadeKeyBody,
  MeBody,
  SessionBody,
  UserBody,
  UsersBody
} from "../../contract/AccountSchemas.ts"
import type { AuditBody } from "../../contract/AuditApi.ts"
import type { ClusterBody } from "../../contract/ClusterApi.ts"
import type { DomainBody, DomainChangeBody, NewDomainBody } from "../../contract/DomainApi.ts"
import type {
  BulkAnswer,
  BulkEditAnswer,
  BulkEditBody,
  CreateBody,
  LinkBody,
  LinksBody,
  PatchBody,
  PreviewBody
} from "../../contract/LinkSchemas.ts"
import type { DeadLettersBody, MadeWebhookBody, WebhookBody } from "../../contract/WebhookApi.ts"
import type { StatsBody } from "../../contract/StatsSchemas.ts"

/** A link. */
export type Link = typeof LinkBody.Type
/** A page of links. */
export type Links = typeof LinksBody.Type
/** What creates a link. */
export type NewLink = typeof CreateBody.Type
/** What changes a link; `null` clears. */
export type LinkChange = typeof PatchBody.Type
/** What became of each link of a bulk, in its order. */
export type Bulk = typeof BulkAnswer.Type
/** What changes or deletes the links of a filter. */
export type BulkEdit = typeof BulkEditBody.Type
/** What became of each link of a filter. */
export type BulkEdited = typeof BulkEditAnswer.Type
/** What anybody may know of a link. */
export type Preview = typeof PreviewBody.Type
/** Who is signed in. */
export type Me = typeof MeBody.Type
/** A session of who is signed in. */
export type Session = typeof SessionBody.Type
/** An API key. */
export type ApiKey = typeof KeyBody.Type
/** An API key with its secret. */
export type MadeApiKey = typeof MadeKeyBody.Type
/** A user, as administrators see one. */
export type User = typeof UserBody.Type
/** A page of users. */
export type Users = typeof UsersBody.Type
/** A page of the audit log. */
export type AuditPage = typeof AuditBody.Type
/** An entry of the audit log. */
export type AuditEntry = AuditPage["data"][number]
/** The visits of a link, or of all links. */
export type Stats = StatsBody
/** What is asked of statistics. */
export interface StatsQuery {
  readonly from: string
  readonly to?: string
  readonly interval: "hour" | "day"
  readonly bots?: "exclude"
  readonly format?: "csv"
}
/** A further domain. */
export type Domain = typeof DomainBody.Type
/** What adds a domain. */
export type NewDomain = typeof NewDomainBody.Type
/** What changes a domain. */
export type DomainChange = typeof DomainChangeBody.Type
/** A webhook. */
export type Webhook = typeof WebhookBody.Type
/** A webhook with its secret. */
export type MadeWebhook = typeof MadeWebhookBody.Type
/** A page of messages that were given up. */
export type DeadLetters = typeof DeadLettersBody.Type
/** The cluster at a moment. */
export type Cluster = ClusterBody
