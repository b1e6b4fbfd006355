import { Effect } from "effect"
import * as Iso8601 from "../model/Iso8601.ts"
import type { Link } from "../model/Link.ts"
import * as Secret from "../secrets/Secret.ts"
import type { Deletion } from "../storage/links/LinkStore.ts"
import {
  type Challenge,
  type MessageType,
  verificationType,
  type WebhookEvent,
  type WebhookMessage
} from "../model/Webhook.ts"

/** Visits of one link. */
export interface LinkVisits {
  readonly key: string
  readonly nonBots: number
  readonly bots: number
}

/** Visits of an owner's links in a period; moments are milliseconds since the Unix epoch. */
export interface VisitEvents {
  readonly owner: string
  readonly from: number
  readonly to: number
  readonly links: ReadonlyArray<LinkVisits>
}

/** How links are shown to receivers. */
export interface Showing {
  /** A link as the HTTP contract shows it. */
  readonly link: (link: Link) => object
  /** The key, domain and short URL of a link, by the text under which it is stored. */
  readonly names: (text: string) => object
}

/** A message's id, the same for each repeat of the event. */
const idOf = (event: WebhookEvent, thing: string) => `msg_${Secret.digest(`${event} ${thing}`).slice(0, 32)}`

/** A payload as the Standard Webhooks specification proposes it. */
const bodyOf = (type: MessageType, at: number, data: object) =>
  JSON.stringify({ type, timestamp: Iso8601.formatMoment(at), data })

/** Draws a challenge: the receiver proves itself by answering with its `data.challenge`. */
export const drawChallenge = (at: number): Effect.Effect<Challenge> =>
  Effect.map(Secret.draw(32), (drawn) => ({
    id: `msg_${drawn.subarray(0, 16).toString("hex")}`,
    body: bodyOf(verificationType, at, { challenge: drawn.subarray(16).toString("hex") })
  }))

/** Makes the messages of events of links. */
export const make = ({ link, names }: Showing) => ({
  /** A link was bound: `data` is the link. */
  created: (created: Link, owner: string): WebhookMessage => ({
    id: idOf("link.created", `${created.key} ${created.createId ?? created.createdAt}`),
    owner,
    event: "link.created",
    body: bodyOf("link.created", created.createdAt, link(created))
  }),

  /** A link was deleted: `data` has its key and short URL. */
  deleted: ({ at, deleteId, key }: Deletion, owner: string): WebhookMessage => ({
    id: idOf("link.deleted", `${key} ${deleteId ?? at}`),
    owner,
    event: "link.deleted",
    body: bodyOf("link.deleted", at, names(key))
  }),

  /** Links were visited: `data.links` has the number of visits of each link, by people and by bots, and nothing about the visitors. `id` is unique to this message. */
  visited: ({ from, links, owner, to }: VisitEvents, id: string): WebhookMessage => ({
    id: idOf("link.visited", id),
    owner,
    event: "link.visited",
    body: bodyOf("link.visited", to, {
      from: Iso8601.formatMoment(from),
      to: Iso8601.formatMoment(to),
      links: links.map(({ bots, key, nonBots }) => ({
        ...names(key),
        visits: { total: nonBots + bots, nonBots, bots }
      }))
    })
  })
})

/** See {@link make}. */
export type Messages = ReturnType<typeof make>
