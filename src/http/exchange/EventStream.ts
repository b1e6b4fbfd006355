import { Sse } from "@effect/experimental"
import { Duration, Effect, Option, Stream } from "effect"

/** How soon a browser asks again when its stream has ended. */
const retryAfter = Duration.seconds(1)

/** What a stream of events is made of. */
export interface EventStreamOptions {
  /** The next event's data; `None` ends the stream. */
  readonly next: Effect.Effect<Option.Option<string>>
  readonly every: Duration.Duration
  /** A client that has not taken an event for so long is cut off. */
  readonly takenWithin: Duration.Duration
  readonly cut: () => void
}

/**
 * Server-sent events (WHATWG HTML, section 9.2), as text. An event is made only when the client has taken those before it, so that nothing waits for a slow
 * one; one that takes none at all is cut off.
 */
export const make = ({ cut, every, next, takenWithin }: EventStreamOptions): Stream.Stream<string> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      let taken = 0
      const watch = Effect.gen(function* () {
        for (let before = -1; before !== taken;) {
          before = taken
          yield* Effect.sleep(takenWithin)
        }
        cut()
      })
      yield* Effect.forkScoped(watch)

      const event = next.pipe(
        Effect.tap(() => Effect.sync(() => taken++)),
        Effect.flatMap(
          Option.match({
            onNone: () => Effect.fail(Option.none<never>()),
            onSome: (data) =>
              Effect.succeed(Sse.encoder.write({ _tag: "Event", event: "message", id: undefined, data }))
          })
        )
      )
      const events = Stream.concat(
        Stream.fromEffectOption(event),
        Stream.repeatEffectOption(Effect.delay(event, every))
      )
      const hello = Sse.encoder.write(new Sse.Retry({ duration: retryAfter, lastEventId: undefined }))
      return Stream.concat(Stream.make(hello), events)
    })
  )
