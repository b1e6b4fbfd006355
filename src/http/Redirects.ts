import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { Quotas } from "../accounts/Quotas.ts"
import { Links } from "../actors/Links.ts"
import { type Link, stateAt } from "../Link.ts"
import { passwordLengthMax, Passwords } from "../Passwords.ts"
import type { Answer } from "./Answer.ts"
import * as Body from "./Body.ts"
import { ClientAddress } from "./ClientAddress.ts"
import { orProblem, shortUrlOf } from "./LinkAnswers.ts"
import { isKeyShaped } from "./LinkSchemas.ts"
import * as Page from "./Page.ts"
import * as PasswordPage from "./PasswordPage.ts"
import * as PreviewPage from "./PreviewPage.ts"
import * as Problem from "./Problem.ts"
import * as RateLimit from "./RateLimit.ts"
import * as Redirect from "./Redirect.ts"
import type { Request } from "./Request.ts"
import { TargetPolicy } from "./TargetPolicy.ts"
import * as VisitRecorder from "./VisitRecorder.ts"
import * as VisitTotals from "./VisitTotals.ts"
import * as Traced from "../Traced.ts"

/** The pages are constant, so that nothing of a request can find its way into them. */
const pages = {
  "not-found": Page.make({ title: "No such link", text: "This short link does not exist." }),
  gone: Page.make({
    title: "Link ended",
    text: "This short link has expired, was used up or deleted, or is blocked."
  }),
  "rate-limited": Page.make({
    title: "Too many requests",
    text: "There were too many requests. Please wait before the next one."
  }),
  "uri-too-long": Page.make({ title: "Address too long", text: "This address is too long to be passed on." })
} as const

const details = {
  "not-found": "There is no link with this key.",
  gone: "This link has expired, was used up or deleted, or is blocked."
} as const

type Nowhere = keyof typeof pages

/** Why a request was not redirected, as a problem to clients that ask for JSON, else as a page where there is one. */
const refuse = (problem: Problem.Problem, request: Request): Answer => {
  const html = problem.kind in pages ? pages[problem.kind as Nowhere] : undefined
  if (html === undefined) return Problem.answer(problem)
  return Page.prefersJson(request)
    ? Problem.answer({ ...problem, headers: { ...problem.headers, vary: "accept" } })
    : Page.answer(html, Problem.statusOf(problem.kind), problem.headers)
}

const nowhere = (kind: keyof typeof details) => Effect.fail<Problem.Problem>({ kind, detail: details[kind] })

/** The row of a key, as `Links` finds it. */
export type Found = ReturnType<(typeof Links.Service)["find"]>

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

    /** The link of a key that leads somewhere now. A key that does not yet is not told from one that never will. */
    const findLive = Effect.fnUntraced(function* (request: Request, key: string, found?: Found) {
      const client = clientOf(request)
      const scanned = quotas.lookupsUsedUp(client)
      if (scanned !== undefined) return yield* Effect.fail(RateLimit.problemOf(scanned))
      const link = isKeyShaped(key) ? yield* orProblem(found ?? links.find(key)) : null
      if (link === null) {
        quotas.lookupFailed(client)
        return yield* nowhere("not-found")
      }
      const state = stateAt(link, yield* Clock.currentTimeMillis)
      if (state === "pending") return yield* nowhere("not-found")
      if (state !== "live" || targets.faultOf(link.url) !== undefined) return yield* nowhere("gone")
      return link
    })

    /** Takes one redirect of the owner's, mostly without an effect. */
    const checkQuota = (link: Link) => {
      const standing = quotas.redirect(link)
      return RateLimit.check(standing === undefined ? quotas.redirectLater(link) : Effect.succeed(standing))
    }

    /** Uses a visit up where a link has only so many, and counts it. */
    const visit = Effect.fnUntraced(function* (request: Request, link: Link) {
      const isGranted = link.maxVisits === null || (yield* orProblem(links.visit(link.key)))
      if (!isGranted) return yield* nowhere("gone")
      record(request, link, yield* Clock.currentTimeMillis)
    })

    const redirect = Effect.fnUntraced(function* (request: Request, key: string, found?: Found) {
      const link = yield* findLive(request, key, found)
      if (link.passwordHash !== null) return PasswordPage.ask(request, "asked")
      yield* checkQuota(link)
      const location = yield* Redirect.locationOf(link, Redirect.queryOf(request.url))
      if (request.method !== "HEAD") yield* visit(request, link)
      return Redirect.answer(link, link.redirectStatus, location)
    }, Traced.span("redirect"))

    const preview = Effect.fnUntraced(function* (request: Request, key: string) {
      const link = yield* findLive(request, key)
      const [visits] = yield* totals([link])
      const body = PreviewPage.bodyOf(link, shortUrlOf(link.key, baseUrl), visits!.total)
      return PreviewPage.answer(body, Page.prefersJson(request))
    }, Traced.span("preview"))

    const isPasswordOf = (link: Link, password: string) =>
      password.length > passwordLengthMax
        ? Effect.succeed(false)
        : Problem.orUnavailable(passwords.verify(link.passwordHash, Redacted.make(password)))

    /** Also of a link that has no password any more: its visitor has still the form. */
    const unlock = Effect.fnUntraced(function* (request: Request, key: string) {
      const link = yield* findLive(request, key)
      const password = (yield* Body.readForm(request)).get("password") ?? ""
      if (link.passwordHash !== null) yield* RateLimit.check(quotas.unlock(clientOf(request), link.key))
      if (link.passwordHash !== null && !(yield* isPasswordOf(link, password))) {
        return PasswordPage.ask(request, "wrong")
      }
      yield* checkQuota(link)
      const location = yield* Redirect.locationOf(link, Redirect.queryOf(request.url))
      yield* visit(request, link)
      return Redirect.answer(link, 303, location)
    }, Traced.span("unlock"))

    const answering =
      (work: (request: Request, key: string, found?: Found) => Effect.Effect<Answer, Problem.Problem>) =>
      (request: Request, key: string, found?: Found) =>
        Effect.catchAll(work(request, key, found), (problem) => Effect.succeed(refuse(problem, request)))

    return Redirects.of({
      redirect: answering(redirect),
      preview: answering(preview),
      unlock: answering(unlock)
    })
  })

/** See {@link Redirects}. */
export const layer = (own: { readonly baseUrl: URL }) => Layer.effect(Redirects, make(own))
