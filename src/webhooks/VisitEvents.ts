import { Array as Arrays, Clock, Context, Duration, Effect, Layer, Metric, Option, type Scope } from "effect"
import * as Metered from "../telemetry/Metered.ts"
import type { Link } from "../model/Link.ts"
import { drawId } from "../model/RandomId.ts"
import * as RetrySchedule from "../fibers/RetrySchedule.ts"
import { WebhookListeners } from "../storage/webhooks/WebhookListeners.ts"
import { countDropped } from "../storage/webhooks/WebhookMetrics.ts"
import { WebhookStore } from "../storage/webhooks/WebhookStore.ts"
import type { WebhookMessage } from "../model/Webhook.ts"
import type { VisitEvents as News } from "./WebhookMessages.ts"

/** How long visits are gathered into one message. */
const gatherFor = Duration.seconds(1)

/** Links whose visits a node gathers at most, and links of one message: some 60 KB. */
const linksMax = 10_000
const messageLinksMax = 500

/** How long a graceful shutdown tries to queue messages. */
const stopMax = Duration.seconds(5)

/** Visits that were dropped though a webhook listens. */
export const visitsUntold = Metered.counter(
  "linkmint_webhook_visits_dropped_total",
  "Visits that webhooks were not told of, because too many links were visited or the database was away"
)

/** Receives visits as they are counted. By default it does nothing. */
export class VisitEvents extends Context.Reference<VisitEvents>()("linkmint/VisitEvents", {
  defaultValue: (): VisitNewsService => ({ note: () => {} })
}) {}

/** See {@link VisitEvents}. */
export interface VisitNewsService {
  /** Notes a visit of a link: a plain call that never waits or fails. */
  readonly note: (link: Link, isBot: boolean) => void
}

interface Count {
  nonBots: number
  bots: number
}

/** Links' visits by owner. */
class Gathered {
  readonly byOwner = new Map<string, Map<string, Count>>()
  links = 0
  dropped = 0

  add(owner: string, key: string, isBot: boolean) {
    const ofOwner = this.byOwner.get(owner) ?? new Map<string, Count>()
    const count = ofOwner.get(key) ?? { nonBots: 0, bots: 0 }
    if (!ofOwner.has(key)) {
      if (this.links === linksMax) return void this.dropped++
      this.links++
      ofOwner.set(key, count)
      this.byOwner.set(owner, ofOwner)
    }
    if (isBot) count.bots++
    else count.nonBots++
  }

  /** How many are gathered. */
  get visits(): number {
    const counts = [...this.byOwner.values()].flatMap((ofOwner) => [...ofOwner.values()])
    return counts.reduce((sum, { bots, nonBots }) => sum + bots + nonBots, 0)
  }

  /** What was gathered, in parts that fit into messages. */
  news(from: number, to: number): ReadonlyArray<News> {
    return [...this.byOwner].flatMap(([owner, counts]) => {
      const links = Array.from(counts, ([key, count]) => ({ key, ...count }))
      return Arrays.chunksOf(links, messageLinksMax).map((links) => ({ owner, from, to, links }))
    })
  }
}

/**
 * Gathers the visits of owners with webhooks for them, and queues a message for each of these owners every second. Like the counts themselves, those of the last
 * second are lost when the process is killed. What could not be told at a graceful stop is counted as dropped.
 */
export const make = (
  visited: (news: News, id: string) => WebhookMessage
): Effect.Effect<VisitNewsService, never, WebhookStore | WebhookListeners | Scope.Scope> =>
  Effect.gen(function* () {
    const store = yield* WebhookStore
    const listeners = yield* WebhookListeners
    const state = {
      gathered: new Gathered(),
      since: yield* Clock.currentTimeMillis,
      untold: [] as ReadonlyArray<WebhookMessage>,
      visits: 0
    }
    const isNoted = Effect.unsafeMakeLatch()

    /** The messages that may not be queued yet, or else the next ones. Repeats have the same ids, so that they are queued once. */
    const nextMessages = Effect.gen(function* () {
      if (state.untold.length > 0) return
      const now = yield* Clock.currentTimeMillis
      const { gathered, since } = state
      const news = gathered.news(since, now)
      state.gathered = new Gathered()
      state.since = now
      isNoted.unsafeClose()
      state.untold = yield* Effect.forEach(news, (part) =>
        Effect.map(drawId, (id) => visited(part, String(id)))
      )
      state.visits = gathered.visits
      yield* Metric.incrementBy(visitsUntold, gathered.dropped)
    }).pipe(Effect.uninterruptible)

    const tell = Effect.gen(function* () {
      yield* nextMessages
      yield* store.offer(state.untold).pipe(
        Effect.retry(RetrySchedule.patient),
        Effect.flatMap(countDropped),
        Effect.catchAll(() => Metric.incrementBy(visitsUntold, state.visits))
      )
      state.untold = []
    })

    const isIdle = () => state.untold.length === 0 && state.gathered.links === 0

    /** Counts what is left untold for good. */
    const giveUp = Effect.suspend(() => {
      const { gathered, untold, visits } = state
      const lost = (untold.length > 0 ? visits : 0) + gathered.visits + gathered.dropped
      return Effect.zipRight(
        Metric.incrementBy(visitsUntold, lost),
        Effect.logWarning(`The last visits could not be told: ${lost}`)
      )
    })

    // Registered before the fiber, so that it runs after the fiber's end.
    yield* Effect.addFinalizer(() =>
      tell.pipe(
        Effect.repeat({ until: isIdle }),
        Effect.interruptible,
        Effect.timeoutOption(stopMax),
        Effect.filterOrElse(Option.isSome, () => giveUp),
        Effect.unless(isIdle)
      )
    )
    yield* isNoted.await.pipe(
      Effect.zipRight(Effect.sleep(gatherFor)),
      Effect.zipRight(tell),
      Effect.forever,
      Effect.forkScoped
    )

    return {
      note: ({ key, owner }, isBot) => {
        if (owner === null || !listeners.has(owner, "link.visited")) return
        state.gathered.add(owner, key, isBot)
        isNoted.unsafeOpen()
      }
    }
  })

/** See {@link make}. */
export const layer = (
  visited: (news: News, id: string) => WebhookMessage
): Layer.Layer<never, never, WebhookStore | WebhookListeners> => Layer.scoped(VisitEvents, make(visited))
