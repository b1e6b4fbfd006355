import { Effect, Exit, Fiber } from "effect"
import * as Parallel from "../../fibers/Parallel.ts"
import * as Timeout from "../../fibers/Timeout.ts"
import type { Link } from "../../model/Link.ts"
import { orUnavailable, type Unavailable } from "../Unavailable.ts"
import { type Guarding, Superseded } from "./LinkDraft.ts"
import { bind } from "./LocalOwners.ts"
import * as LinkWriters from "./LinkWriters.ts"
import { silent } from "./OwnersAway.ts"
import { type CreateOutcome, partitionOf, UrlMapping } from "./UrlMapping.ts"

/** What became of a link that was asked for: `E` is how it can fail beside its owner. */
export type Outcome<E> = Exit.Exit<CreateOutcome, E | Unavailable>

/** Asks for links to be bound, each alone; gives the effect that waits for what became of each. */
export type Ask<E> = (links: ReadonlyArray<Link>) => Effect.Effect<Effect.Effect<ReadonlyArray<Outcome<E>>>>

/** Asks for links that nothing guards. Once asked for, they are bound also where nobody waits any more. */
export const alone =
  ({ bindThen }: LinkWriters.LinkWriters): Ask<never> =>
  (links) =>
    Effect.map(Effect.forkDaemon(bind(bindThen, links)), Fiber.join)

/** Asks for links under guards. They are few, and go in messages of their own. */
export const guarded = (onRefused: LinkWriters.NotBound["onRefused"]) =>
  Effect.map(UrlMapping.client, (clientOf) => {
    const send = (link: Link, { answerOf, guards }: Guarding) =>
      Timeout.within(
        orUnavailable(
          clientOf(String(partitionOf(link.key))).CreateGuarded({
            links: [{ link, guards, answer: answerOf(link) }]
          })
        ),
        { duration: LinkWriters.ownerMax, onTimeout: silent }
      )

    const bindOne = (
      link: Link,
      guarding: Guarding
    ): Effect.Effect<CreateOutcome, Superseded | Unavailable> =>
      Effect.uninterruptibleMask((restore) =>
        restore(send(link, guarding)).pipe(
          Effect.tapError(({ applied }) => (applied === "no" ? onRefused([link]) : Effect.void)),
          Effect.flatMap(([outcome]) =>
            outcome === "superseded"
              ? Effect.zipRight(onRefused([link]), new Superseded())
              : Effect.succeed(outcome!)
          )
        )
      )

    return (guarding: Guarding): Ask<Superseded> =>
      (links) =>
        Effect.succeed(Parallel.forEach(links, (link) => Effect.exit(bindOne(link, guarding))))
  })
