import { Effect, Either } from "effect"
import { Quotas } from "../../accounts/Quotas.ts"
import type { Standing } from "../../accounts/Meter.ts"
import type { Guarding, LinkDraft } from "../../actors/links/LinkDraft.ts"
import { Links } from "../../actors/links/Links.ts"
import { ReusedLinks } from "../../actors/links/ReusedLinks.ts"
import { defaultDomain } from "../../keys/QualifiedKey.ts"
import { isLong } from "../../model/Alias.ts"
import type { Link } from "../../model/Link.ts"
import type { Answer } from "../exchange/Answer.ts"
import * as Caller from "../exchange/Caller.ts"
import { ClientAddress } from "../exchange/ClientAddress.ts"
import { Domains } from "../domains/Domains.ts"
import { LongAliases } from "../domains/LongAliases.ts"
import * as Problem from "../exchange/Problem.ts"
import * as RateLimit from "../exchange/RateLimit.ts"
import type { Request } from "../exchange/Request.ts"
import type { CreatePlan, Creator } from "./CreatePlan.ts"
import * as LinkChecks from "./LinkChecks.ts"
import * as Idempotency from "./Idempotency.ts"
import { aliasTaken, createAnswer, textOf } from "./LinkAnswers.ts"
import * as VisitTotals from "./VisitTotals.ts"

/** What creates need to know of the operator's choices. */
export interface CreationOptions extends Omit<LinkChecks.CreatePolicy, "domains" | "targets"> {
  readonly anonymousCreates: boolean
}

/** Who creates, and the quota that their creates are counted for. */
export interface CountedCreator extends Creator {
  /** Gives what takes one create. */
  readonly quota: () => Effect.Effect<Standing | null>
  /** The same without an effect; `undefined` where `quota` must be asked. */
  readonly quotaNow: () => Standing | null | undefined
}

/** An answer, and the state of the quota that the create was counted against, if it was. */
export interface Carried {
  readonly answered: Idempotency.Answered
  readonly standing: Standing | null
}

/** What all ways to create share. */
export interface Creation {
  /** Who creates by a request, or the problem of one that may not. */
  readonly creatorOf: (
    request: Request,
    caller: Caller.Caller
  ) => Either.Either<CountedCreator, Problem.Problem>
  /** Does what was planned. */
  readonly carryOut: (
    plan: CreatePlan,
    quota: Effect.Effect<Standing | null>
  ) => Effect.Effect<Carried, Problem.Problem>
  /** The answer to the create of a link. */
  readonly created: (link: Link) => Idempotency.Answer
  /** Its body. */
  readonly createdText: (link: Link) => string
}

/** The answer that a problem is, as it is kept for repeats. */
export const problemAnswer = (problem: Problem.Problem): Idempotency.Answer => ({
  status: Problem.statusOf(problem.kind),
  contentType: Problem.contentType,
  location: null,
  body: JSON.stringify(Problem.bodyOf(problem))
})

/** The answer to a create. */
export const answerOf = ({ answered, standing }: Carried): Answer =>
  RateLimit.shownIn(Idempotency.respond(answered), standing)

/** See {@link Creation}. */
export const make = Effect.fnUntraced(function* (options: CreationOptions) {
  const checks = yield* LinkChecks.make(options)
  const links = yield* Links
  const reused = yield* ReusedLinks
  const once = yield* Idempotency.make
  const quotas = yield* Quotas
  const { clientOf } = yield* ClientAddress
  const totals = yield* VisitTotals.make
  const longAliases = yield* LongAliases
  const naming = { baseUrl: options.own.baseUrl, domains: yield* Domains }

  const created = (link: Link) => createAnswer(201, link, naming, VisitTotals.none)
  const createdText = (link: Link) => textOf(link, naming, VisitTotals.none)

  const linkFor = (draft: LinkDraft, mayReuse: boolean, guarding: Guarding) => {
    const { owner } = draft
    if (mayReuse && owner !== null) return reused.get({ ...draft, owner }, guarding)
    const create = guarding.guards.length === 0 ? links.create(draft) : links.createGuarded(draft, guarding)
    return Effect.map(create, (link) => ({ link, isNew: true }))
  }

  const creation: Creation = {
    creatorOf: (request, caller) => {
      const allowed = Caller.requireCreator(caller, options.anonymousCreates)
      if (Either.isLeft(allowed)) return Either.left(allowed.left)
      return Either.map(Idempotency.keyOf(request), (idempotencyKey) => {
        const client = clientOf(request)
        return {
          owner: Caller.ownerOf(caller),
          isAdmin: caller !== "anonymous" && caller.isAdmin,
          keyLimit: Caller.keyLimitOf(caller),
          policy: checks.policyOf(request),
          idempotencyKey,
          quota: () => quotas.create(caller, client),
          quotaNow: () => quotas.createNow(caller, client)
        }
      })
    },

    carryOut: Effect.fnUntraced(function* ({ link: planned, repeats }, quota) {
      if (Either.isRight(planned)) {
        const { alias, domain = defaultDomain } = planned.right.draft
        if (alias !== null && isLong(alias)) yield* Problem.orUnavailable(longAliases.prepare(domain))
      }
      let standing: Standing | null = null
      const create = (guarding: Guarding) =>
        Effect.gen(function* () {
          const { draft, mayReuse, password } = yield* planned
          standing = yield* RateLimit.check(quota)
          const whole =
            password === null ? draft : { ...draft, passwordHash: yield* checks.hash(password, draft.owner) }
          const { isNew, link } = yield* linkFor(whole, mayReuse, guarding)
          if (isNew) return { answer: created(link), isSettled: true }
          const [visits] = yield* totals([link])
          return { answer: createAnswer(200, link, naming, visits!), isSettled: false }
        }).pipe(
          // Kept for repeats, since the alias may be free later.
          Effect.catchTag("AliasTaken", ({ alias }) =>
            Effect.succeed({ answer: problemAnswer(aliasTaken(alias)), isSettled: false })
          )
        )
      const answered = yield* once({ repeats, answerOf: created, create })
      return { answered, standing }
    }),

    created,
    createdText
  }
  return creation
})
