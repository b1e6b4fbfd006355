import { Clock, Effect } from "effect"
import { monotonicNow_ms } from "../time/MonotonicTime.ts"
import type { Claimant } from "../storage/webhooks/WebhookStore.ts"

/** Messages that a node has under way for one webhook, and for all webhooks of a user. */
const underWayMax = { webhook: 4, owner: 8 }

/** Messages that a node sends for one user, and to one host, within any second. */
const perSecond = { owner: 10, host: 50 }

const second_ms = 1_000

type Sent = Pick<Claimant, "owner" | "host"> & { readonly webhookId: string }

/** When the last messages were sent, by owner or by host. */
class Pace {
  readonly #max: number
  readonly #sent = new Map<string, Array<number>>()

  constructor(max: number) {
    this.#max = max
  }

  take(name: string, now: number) {
    const times = this.#sent.get(name)
    if (times === undefined) this.#sent.set(name, [now])
    else times.push(now)
  }

  left(name: string): number {
    return this.#max - (this.#sent.get(name)?.length ?? 0)
  }

  /** Forgets what was sent more than a second ago; gives the names that must wait. */
  exhausted(now: number): ReadonlyArray<string> {
    for (const [name, times] of this.#sent) {
      const recent = times.filter((time) => time > now - second_ms)
      if (recent.length === 0) this.#sent.delete(name)
      else this.#sent.set(name, recent)
    }
    return [...this.#sent.keys()].filter((name) => this.left(name) <= 0)
  }
}

const countUp = (counts: Map<string, number>, name: string, by: 1 | -1) => {
  const count = (counts.get(name) ?? 0) + by
  if (count === 0) counts.delete(name)
  else counts.set(name, count)
}

/** What a node has under way and has sent within the last second: it keeps one user from taking all slots, and protects hosts from floods. */
export const make = Effect.map(Effect.clock, (clock: Clock.Clock) => {
  const now = () => monotonicNow_ms(clock)
  const webhooks = new Map<string, number>()
  const owners = new Map<string, number>()
  const paceOfOwners = new Pace(perSecond.owner)
  const paceOfHosts = new Pace(perSecond.host)

  return {
    /** The webhooks, owners and hosts that get no messages now. */
    busy: () => ({
      webhooks: [...webhooks.keys()],
      owners: [
        ...paceOfOwners.exhausted(now()),
        ...[...owners].flatMap(([owner, count]) => (count >= underWayMax.owner ? [owner] : []))
      ],
      hosts: paceOfHosts.exhausted(now())
    }),

    /** Gives the function that says how many messages each webhook of one claim gets. */
    rooms: () => {
      const given = { owners: new Map<string, number>(), hosts: new Map<string, number>() }
      return ({ host, owner }: Claimant): number => {
        const ofOwner = given.owners.get(owner) ?? 0
        const ofHost = given.hosts.get(host) ?? 0
        const room = Math.max(
          0,
          Math.min(
            underWayMax.webhook,
            underWayMax.owner - (owners.get(owner) ?? 0) - ofOwner,
            paceOfOwners.left(owner) - ofOwner,
            paceOfHosts.left(host) - ofHost
          )
        )
        given.owners.set(owner, ofOwner + room)
        given.hosts.set(host, ofHost + room)
        return room
      }
    },

    begin: ({ host, owner, webhookId }: Sent): void => {
      countUp(webhooks, webhookId, 1)
      countUp(owners, owner, 1)
      paceOfOwners.take(owner, now())
      paceOfHosts.take(host, now())
    },

    end: ({ owner, webhookId }: Sent): void => {
      countUp(webhooks, webhookId, -1)
      countUp(owners, owner, -1)
    }
  }
})
