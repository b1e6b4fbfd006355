import { Effect, Record as Records } from "effect"
import * as Metered from "../telemetry/Metered.ts"

const actors = ["KeyRange", "PoolShard", "UrlMapping"] as const
type Actor = (typeof actors)[number]

const starts = Metered.countersBy(
  "linkmint_actor_starts_total",
  "Actors started on this node, at its start or when they moved here",
  "actor",
  actors
)

type Handle = (request: unknown) => Effect.Effect<unknown, unknown, unknown>

/** Counts an actor that starts, and its messages: how many came, and how many of them wait or are being answered. */
export const watch = <H extends object>(actor: Actor, handlers: H): H => {
  Metered.add(starts[actor])
  const underWay = Metered.gauge(
    "linkmint_actor_messages_in_flight",
    "Messages that actors of this node are answering; where they answer all at once, that is all of their mailboxes",
    { actor }
  )
  const ended = Effect.sync(() => Metered.add(underWay, -1))
  return Records.map(handlers as Readonly<Record<string, Handle>>, (handle, message) => {
    const came = Metered.counter(
      "linkmint_actor_messages_total",
      "Messages that came to actors of this node",
      {
        actor,
        message
      }
    )
    return (request: unknown) =>
      Effect.suspend(() => {
        Metered.add(came)
        Metered.add(underWay)
        return Effect.ensuring(handle(request), ended)
      })
  }) as H
}
