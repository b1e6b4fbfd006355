import { Sse } from "@effect/experimental"
import { Duration, Effect, Option, Stream } from "effect"

/** How soon a browser asks again when its stream has ended. */
const retryAfter = Duration.seconds(1)

/** What a stream of events is made of. */
export interface EventStreamOptions {
  /** The next event's data; `None` ends the stream. */
  readonly next: Effect.Effect<Option.Option<string>>
  readonly every: Duration.Duration
}

const hello = Sse.encoder.write(new Sse.Retry({ duration: retryAfter, lastEventId: undefined }))

/**
 * Server-sent events (WHATWG HTML, section 9.2), as text. An event is made only when the client has taken those before it, so that nothing waits for a slow
 * one; a client that takes none at all loses its connection, like any client that reads nothing.
 */
export const make = ({ every, next }: EventStreamOptions): Stream.Stream<string> => {
  const event = Effect.flatMap(
    next,
    Option.match({
      onNone: () => Effect.fail(Option.none<never>()),
      onSome: (data) =>
        Effect.succeed(Sse.encoder.write({ _tag: "Event", event: "message", id: undefined, data }))
    })
  )
  return Stream.make(hello).pipe(
    Stream.concat(Stream.fromEffectOption(event)),
    Stream.concat(Stream.repeatEffectOption(Effect.delay(event, every)))
  )
}
