import { Cause, Effect, Exit, Fiber, Option, Runtime } from "effect"
import * as Parallel from "../../fibers/Parallel.ts"
import type { Link } from "../../model/Link.ts"
import { Unavailable } from "../Unavailable.ts"
import { type Guarding, Superseded } from "./LinkDraft.ts"
import { bind, type BindOutcome, type BindThen, isTooMany, type LocalOwners } from "./LocalOwners.ts"
import type { CreateOutcome } from "./UrlMapping.ts"

/** What became of a link that was asked for: `E` is how it can fail beside its store. */
export type Outcome<E> = Exit.Exit<CreateOutcome, E | Unavailable>

/** Asks for links to be bound, each alone; gives the effect that waits for what became of each. */
export type Ask<E> = (links: ReadonlyArray<Link>) => Effect.Effect<Effect.Effect<ReadonlyArray<Outcome<E>>>>

/** Who refused links: the `store`, which may refuse those of other keys of the same database as well, or something that says nothing about that. */
export type RefusedBy = "store" | "other"

/** Called with links that certainly were not bound, and will not be, whether or not anyone still waits for them: their keys can be used again. Those with an alias may have been bound by an earlier try. */
export type OnRefused = (links: ReadonlyArray<Link>, by: RefusedBy) => Effect.Effect<void>

const isKnownUnbound = (outcome: BindOutcome): boolean =>
  Exit.isFailure(outcome) &&
  Option.exists(Cause.failureOption(outcome.cause), ({ applied }) => applied === "no")

/** `bindThen`, which tells of links that were refused. */
export const telling = (
  bindThen: BindThen,
  onRefused: OnRefused,
  runtime: Runtime.Runtime<never>
): BindThen => {
  const runFork = Runtime.runFork(runtime)
  return (links, answer, span) => {
    if (links.length === 0) return answer([])
    bindThen(
      links,
      (outcomes) => {
        const tell = (by: RefusedBy) => {
          const unbound = links.filter((_, place) => {
            const outcome = outcomes[place]!
            return isKnownUnbound(outcome) && isTooMany(outcome) === (by === "other")
          })
          if (unbound.length > 0) runFork(Effect.uninterruptible(onRefused(unbound, by)))
        }
        if (outcomes.some(isKnownUnbound)) {
          tell("store")
          tell("other")
        }
        answer(outcomes)
      },
      span
    )
  }
}

/** Asks for links that nothing guards. Once asked for, they are bound also where nobody waits any more. */
export const alone =
  (bindThen: BindThen): Ask<never> =>
  (links) =>
    Effect.map(Effect.forkDaemon(bind(bindThen, links)), Fiber.join)

/** The guard has moved since the key was chosen: one with another key can be bound. */
const apart = new Unavailable({
  reason: "the guard and the key are in two databases by now",
  applied: "no",
  away: true
})

/** Asks for links under guards, likewise. */
export const guarded =
  ({ bindGuarded }: typeof LocalOwners.Service, onRefused: OnRefused) =>
  (guarding: Guarding): Ask<Superseded> => {
    // Nobody waits until the key is back: its pool may be silent.
    const tell = (link: Link, by: RefusedBy) =>
      Effect.forkDaemon(Effect.uninterruptible(onRefused([link], by)))
    const bindOne = (link: Link): Effect.Effect<CreateOutcome, Superseded | Unavailable> =>
      bindGuarded([{ link, guards: guarding.guards, answer: guarding.answerOf(link) }]).pipe(
        Effect.tapError(({ applied }) => (applied === "no" ? tell(link, "store") : Effect.void)),
        Effect.flatMap(([outcome]): Effect.Effect<CreateOutcome, Superseded | Unavailable> => {
          if (outcome === "apart") return Effect.zipRight(tell(link, "other"), apart)
          if (outcome === "superseded") return Effect.zipRight(tell(link, "other"), new Superseded())
          return Effect.succeed(outcome!)
        })
      )
    return (links) =>
      Effect.map(Effect.forkDaemon(Parallel.forEach(links, (link) => Effect.exit(bindOne(link)))), Fiber.join)
  }
