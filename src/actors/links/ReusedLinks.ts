import { Clock, Context, Duration, Effect, Layer } from "effect"
import type { Link } from "../../model/Link.ts"
import { monotonic_ms } from "../../time/MonotonicTime.ts"
import { drawId } from "../../model/RandomId.ts"
import {
  abandon,
  begin,
  type Guard,
  GuardedCreates,
  guardTimes,
  holding
} from "../../storage/links/GuardedCreates.ts"
import { urlDigest } from "../../storage/links/LinkColumns.ts"
import type { AliasTaken, Guarding, LinkDraft, Superseded } from "./LinkDraft.ts"
import { Links } from "./Links.ts"
import { fromFailure, Unavailable } from "../Unavailable.ts"
import * as Traced from "../../telemetry/Traced.ts"

/** A link for a draft, and whether it was made for it. */
export interface Reused {
  readonly link: Link
  readonly isNew: boolean
}

/** How often one who waits for another's create looks for its link, and for how long at most. */
const lookEvery = Duration.millis(50)
const waitMax_ms = 3_000

/** Gives an owner the link of a URL that they have already, or makes one. */
export class ReusedLinks extends Context.Tag("linkmint/ReusedLinks")<
  ReusedLinks,
  {
    /**
     * The owner's newest link of the draft's URL that has not ended; where there is none, a new one, of which many who ask at once make one together.
     * Its guards are settled only with a new link.
     */
    readonly get: (
      draft: LinkDraft & { readonly owner: string },
      guarding: Guarding
    ) => Effect.Effect<Reused, AliasTaken | Superseded | Unavailable>
  }
>() {}

/** See {@link ReusedLinks}. */
export const layer: Layer.Layer<ReusedLinks, never, GuardedCreates | Links> = Layer.effect(
  ReusedLinks,
  Effect.gen(function* () {
    const links = yield* Links
    const guarded = yield* GuardedCreates

    const createUnder = (guard: Guard, draft: LinkDraft, { answerOf, guards }: Guarding) =>
      links.createGuarded(draft, { answerOf, guards: [...guards, guard] }).pipe(
        Effect.map((link): Reused => ({ link, isNew: true })),
        Effect.tapError((error) =>
          error._tag === "AliasTaken" || (error._tag === "Unavailable" && error.applied === "no")
            ? Effect.ignore(abandon(guarded, guard))
            : Effect.void
        )
      )

    /** The same for a guard that was settled with a link that has ended: an alias that was free again may have been bound under it since, so that it was settled with the same key as before. */
    const createUnlessThere = (
      find: Effect.Effect<Link | null, Unavailable>,
      guard: Guard,
      draft: LinkDraft,
      guarding: Guarding
    ) => {
      const givenUp = Effect.ignore(abandon(guarded, guard))
      return find.pipe(
        Effect.tapError(() => givenUp),
        Effect.flatMap((link) =>
          link === null ? createUnder(guard, draft, guarding) : Effect.as(givenUp, { link, isNew: false })
        )
      )
    }

    /**
     * Gives a guard up whose create was interrupted. Its link may still be on the way: the first of the guards decides whether a minted key is bound, so that one is given up before, and where it was settled
     * already the link is there. An alias can be in another database than all of them: its guard is held until its lease ends.
     */
    const giveUp = (guard: Guard, { alias }: LinkDraft, { guards: [first] }: Guarding) => {
      if (alias !== null) return Effect.void
      if (first === undefined) return abandon(guarded, guard)
      return Effect.flatMap(abandon(guarded, first), (isGivenUp) =>
        isGivenUp ? abandon(guarded, guard) : Effect.void
      )
    }

    return {
      get: Effect.fnUntraced(function* (draft, guarding) {
        const name = `reuse:${urlDigest(draft.owner, draft.url)}`
        const start = yield* monotonic_ms
        // A settled key whose link is not found afterwards has expired, was deleted, or has another target now.
        let ended: string | undefined
        while (true) {
          const now = yield* Clock.currentTimeMillis
          const find = Effect.mapError(guarded.findByUrl(draft.owner, draft.url, now), fromFailure)
          const link = yield* find
          if (link !== null) return { link, isNew: false }
          const guard = { name, token: yield* drawId }
          const beginning = {
            ...guard,
            ...guardTimes,
            fingerprint: "",
            ...(ended !== undefined && { replaces: ended })
          }
          const state = yield* holding({
            begin: Effect.mapError(begin(guarded, beginning), fromFailure),
            create: () =>
              ended === undefined
                ? createUnder(guard, draft, guarding)
                : createUnlessThere(find, guard, draft, guarding),
            otherwise: Effect.succeed,
            giveUp: () => giveUp(guard, draft, guarding)
          })
          if ("isNew" in state) return state
          if (state._tag === "Settled" && state.key !== null) ended = state.key
          else if ((yield* monotonic_ms) - start > waitMax_ms) {
            return yield* new Unavailable({
              reason: "another create of the same link is under way",
              applied: "no"
            })
          } else yield* Effect.sleep(lookEvery)
        }
      }, Traced.span("ReusedLinks.get"))
    }
  })
)
