import { Clock, Context, Effect, Exit, Layer, Redacted } from "effect"
import type { Standing } from "../../accounts/Meter.ts"
import { Quotas } from "../../accounts/Quotas.ts"
import { isReserved, type Reservation } from "../../accounts/Reservations.ts"
import { Links } from "../../actors/links/Links.ts"
import * as Iso8601 from "../../model/Iso8601.ts"
import { type Link, stateAt } from "../../model/Link.ts"
import { passwordLengthMax, Passwords } from "../../accounts/Passwords.ts"
import type { Answer } from "../exchange/Answer.ts"
import * as Body from "../exchange/Body.ts"
import { ClientAddress } from "../exchange/ClientAddress.ts"
import { orProblem, shortUrlOf } from "../links/LinkAnswers.ts"
import { isKeyShaped, type PreviewBody } from "../contract/LinkSchemas.ts"
import * as Problem from "../exchange/Problem.ts"
import * as RateLimit from "../exchange/RateLimit.ts"
import * as Redirect from "./Redirect.ts"
import type { Request } from "../exchange/Request.ts"
import { TargetPolicy } from "../links/TargetPolicy.ts"
import { type PageName, type Refusal, VisitorPages } from "../pages/VisitorPages.ts"
import * as VisitRecorder from "./VisitRecorder.ts"
import * as VisitTotals from "../links/VisitTotals.ts"
import * as Traced from "../../telemetry/Traced.ts"

const details = {
  "not-found": "There is no link with this key.",
  gone: "This link has expired, was used up or deleted, or is blocked."
} as const

const nowhere = (kind: keyof typeof details) => Effect.fail<Problem.Problem>({ kind, detail: details[kind] })

/** Names the page that explains a limit that is reached. */
const saying = (page: PageName) =>
  Effect.mapError((problem: Problem.Problem): Refusal =>
    problem.kind === "rate-limited" ? { ...problem, page } : problem
  )

/** Counts Unicode code points, as the check of a new password does; a string's `length` counts some of them twice. */
const isTooLong = (password: string) =>
  password.length > 2 * passwordLengthMax || Array.from(password).length > passwordLengthMax

/** What anybody may know of a link: its target only if no password guards it. */
const previewOf = (link: Link, shortUrl: string, visits: number): typeof PreviewBody.Type => ({
  key: link.key,
  shortUrl,
  url: link.passwordHash === null ? link.url : null,
  createdAt: Iso8601.formatMoment(link.createdAt),
  visits
})

/** The row of a key, as `Links` finds it. */
export type Found = ReturnType<(typeof Links.Service)["find"]>

/** Counts a look-up that led nowhere. */
export const endLookUp = (reserved: Reservation, found: Exit.Exit<Link | null, unknown>): void =>
  Exit.isSuccess(found) && found.value === null ? reserved.keep() : reserved.giveBack()

/** Redirects short URLs, and shows where they lead. */
export class Redirects extends Context.Tag("linkmint/Redirects")<
  Redirects,
  {
    /** Leads to the target of a key. `found`: what `Links` has told of it already, if it was asked for this request. */
    readonly redirect: (request: Request, key: string, found?: Found) => Effect.Effect<Answer>
    /** Shows the target of a key. */
    readonly preview: (request: Request, key: string) => Effect.Effect<Answer>
    /** Leads to the target of a key whose password the request has. */
    readonly unlock: (request: Request, key: string) => Effect.Effect<Answer>
  }
>() {}

/** See {@link Redirects}. */
export const make = ({ baseUrl }: { readonly baseUrl: URL }) =>
  Effect.gen(function* () {
    const links = yield* Links
    const targets = yield* TargetPolicy
    const passwords = yield* Passwords
    const record = yield* VisitRecorder.make
    const totals = yield* VisitTotals.make
    const quotas = yield* Quotas
    const { clientOf } = yield* ClientAddress
    const pages = yield* VisitorPages

    const isScanned = (standing: Standing) => Effect.fail(RateLimit.problemOf(standing))

    /** The row of a key. What is not at hand is looked for only as long as its client has not asked for too many that lead nowhere: those that it is just asking for included. */
    const lookUp = Effect.fnUntraced(function* (request: Request, key: string, find: Found) {
      const client = clientOf(request)
      if ((links.peek(key) ?? links.stale(key)) !== undefined) {
        const usedUp = quotas.lookupsUsedUp(client)
        return usedUp === undefined ? yield* orProblem(find) : yield* isScanned(usedUp)
      }
      const asked = isKeyShaped(key) ? find : Effect.succeed(null)
      return yield* Effect.acquireUseRelease(
        Effect.suspend(() => {
          const reserved = quotas.lookUp(client)
          return reserved === undefined ? quotas.lookUpLater(client) : Effect.succeed(reserved)
        }),
        (reserved) => (isReserved(reserved) ? orProblem(asked) : isScanned(reserved)),
        (reserved, found) => Effect.sync(() => isReserved(reserved) && endLookUp(reserved, found))
      )
    })

    /** The link of a key that leads somewhere now. A key that does not yet is not told from one that never will. */
    const findLive = Effect.fnUntraced(function* (found: Effect.Effect<Link | null, Problem.Problem>) {
      const link = yield* found
      if (link === null) return yield* nowhere("not-found")
      const state = stateAt(link, yield* Clock.currentTimeMillis)
      if (state === "pending") return yield* nowhere("not-found")
      if (state !== "live" || targets.faultOf(link.url) !== undefined) return yield* nowhere("gone")
      return link
    })

    /** Takes one redirect of the owner's, mostly without an effect. */
    const checkQuota = (link: Link) => {
      const standing = quotas.redirect(link)
      const taken = standing === undefined ? quotas.redirectLater(link) : Effect.succeed(standing)
      return saying("owner-limit")(RateLimit.check(taken))
    }

    /** Uses a visit up where a link has only so many, and counts it. */
    const visit = Effect.fnUntraced(function* (request: Request, link: Link) {
      const isGranted = link.maxVisits === null || (yield* orProblem(links.visit(link.key)))
      if (!isGranted) return yield* nowhere("gone")
      record(request, link, yield* Clock.currentTimeMillis)
    })

    const redirect = Effect.fnUntraced(function* (request: Request, key: string, found?: Found) {
      const link = yield* findLive(
        found === undefined ? lookUp(request, key, links.findToRedirect(key)) : orProblem(found)
      )
      if (link.passwordHash !== null) return pages.askPassword(request, "asked")
      yield* checkQuota(link)
      const location = yield* Redirect.locationOf(link, Redirect.queryOf(request.url))
      if (request.method !== "HEAD") yield* visit(request, link)
      return Redirect.answer(link, link.redirectStatus, location)
    }, Traced.span("redirect"))

    const preview = Effect.fnUntraced(function* (request: Request, key: string) {
      const link = yield* findLive(lookUp(request, key, links.find(key)))
      const [visits] = yield* totals([link])
      return pages.preview(request, previewOf(link, shortUrlOf(link.key, baseUrl), visits!.total))
    }, Traced.span("preview"))

    const isPasswordOf = (link: Link, password: string) =>
      isTooLong(password)
        ? Effect.succeed(false)
        : Problem.orUnavailable(passwords.verify(link.passwordHash, Redacted.make(password), "unlock"))

    /** Also of a link that has no password any more: its visitor has still the form. */
    const unlock = Effect.fnUntraced(function* (request: Request, key: string) {
      const link = yield* findLive(lookUp(request, key, links.find(key)))
      if (link.passwordHash !== null) {
        const taken = quotas.unlock(clientOf(request), link.key)
        yield* saying("too-many-passwords")(RateLimit.check(taken))
      }
      const password = (yield* Body.readForm(request)).get("password") ?? ""
      if (link.passwordHash !== null && !(yield* isPasswordOf(link, password))) {
        return pages.askPassword(request, "wrong")
      }
      yield* checkQuota(link)
      const location = yield* Redirect.locationOf(link, Redirect.queryOf(request.url))
      yield* visit(request, link)
      return Redirect.answer(link, 303, location)
    }, Traced.span("unlock"))

    const answering =
      (work: (request: Request, key: string, found?: Found) => Effect.Effect<Answer, Refusal>) =>
      (request: Request, key: string, found?: Found) =>
        Effect.catchAll(work(request, key, found), (refusal) =>
          Effect.succeed(pages.refuse(request, refusal))
        )

    return Redirects.of({
      redirect: answering(redirect),
      preview: answering(preview),
      unlock: answering(unlock)
    })
  })

/** See {@link Redirects}. */
export const layer = (own: { readonly baseUrl: URL }) => Layer.effect(Redirects, make(own))
