import { Clock, Effect, Option, Redacted } from "effect"
import { domainKeyOf } from "../../keys/QualifiedKey.ts"
import { Quotas } from "../../accounts/Quotas.ts"
import { Links } from "../../actors/links/Links.ts"
import { isAlias } from "../../model/Alias.ts"
import * as Iso8601 from "../../model/Iso8601.ts"
import type { Link } from "../../model/Link.ts"
import type { OrphanReason, Visit } from "../../model/Visit.ts"
import { passwordLengthMax, Passwords } from "../../accounts/Passwords.ts"
import { formFor } from "../exchange/Accept.ts"
import type { Answer } from "../exchange/Answer.ts"
import { Domains } from "../domains/Domains.ts"
import { LongAliases } from "../domains/LongAliases.ts"
import * as Body from "../exchange/Body.ts"
import { VisitorCountry } from "../../visits/VisitClassifier.ts"
import { unlessAsked, VisitOptOut } from "../../visits/VisitOptOut.ts"
import { Visits } from "../../visits/Visits.ts"
import { ClientAddress } from "../exchange/ClientAddress.ts"
import { namesOf, orProblem } from "../links/LinkAnswers.ts"
import { isLinkText, type PreviewBody } from "../contract/LinkSchemas.ts"
import * as LookUps from "./LookUps.ts"
import * as Problem from "../exchange/Problem.ts"
import * as RateLimit from "../exchange/RateLimit.ts"
import * as Redirect from "./Redirect.ts"
import type { Request } from "../exchange/Request.ts"
import { TargetPolicy } from "../links/TargetPolicy.ts"
import { findAsWritten } from "../links/WrittenKeys.ts"
import { hasRouting } from "./rules/Routing.ts"
import * as VisitorFacts from "./rules/VisitorFacts.ts"
import { type PageName, type Refusal, VisitorPages } from "../pages/VisitorPages.ts"
import * as VisitTotals from "../links/VisitTotals.ts"
import * as Traced from "../../telemetry/Traced.ts"

/** Names the page that explains a limit that is reached. */
const saying = (page: PageName) =>
  Effect.mapError((problem: Problem.Problem): Refusal =>
    problem.kind === "rate-limited" ? { ...problem, page } : problem
  )

/** Counts Unicode code points, as the check of a new password does; a string's `length` counts some of them twice. */
const isTooLong = (password: string) =>
  password.length > 2 * passwordLengthMax || Array.from(password).length > passwordLengthMax

/** What anybody may know of a link: its target, to which it leads who asks, only if no password guards it. */
const previewOf = (
  link: Link,
  names: ReturnType<typeof namesOf>,
  target: string,
  visits: number
): typeof PreviewBody.Type => ({
  ...names,
  url: link.passwordHash === null ? target : null,
  ...(hasRouting(link) && { varies: true }),
  createdAt: Iso8601.formatMoment(link.createdAt),
  visits
})

/** What a request is for that no link redirects: a preview sends nobody elsewhere, and only a redirect would have been a visit. */
type Purpose = "redirect" | "preview" | "unlock"

/** The row of a key, as `Links` finds it. */
export type Found = ReturnType<(typeof Links.Service)["find"]>

/** Takes note that no link redirected a request in a domain, at a moment (milliseconds since the Unix epoch). */
export const makeOrphanRecorder: Effect.Effect<
  (request: Request, domain: number, reason: OrphanReason, at: number) => void,
  never,
  Visits
> = Effect.gen(function* () {
  const { record } = yield* Visits
  const { header } = yield* VisitorCountry
  return unlessAsked(yield* VisitOptOut, ({ headers, remoteAddress, url }, domain, reason, at) =>
    record({
      domain,
      reason,
      at,
      userAgent: headers["user-agent"],
      referrer: headers["referer"],
      url,
      peer: Option.getOrUndefined(remoteAddress),
      forwardedFor: headers["x-forwarded-for"],
      country: header === undefined ? undefined : headers[header]
    })
  )
})

/**
 * Takes note that a request visits a link at a moment (milliseconds since the Unix epoch). Nothing is looked up here: this is on the path of
 * redirects.
 */
export const makeRecorder: Effect.Effect<
  (request: Request, { link, target }: Pick<Visit, "link" | "target">, at: number) => void,
  never,
  Visits
> = Effect.gen(function* () {
  const { record } = yield* Visits
  const { header } = yield* VisitorCountry
  return unlessAsked(yield* VisitOptOut, ({ headers, remoteAddress, url }, { link, target }, at) =>
    record({
      link,
      target,
      at,
      userAgent: headers["user-agent"],
      referrer: headers["referer"],
      url,
      peer: Option.getOrUndefined(remoteAddress),
      forwardedFor: headers["x-forwarded-for"],
      country: header === undefined ? undefined : headers[header]
    })
  )
})

/** Redirects short URLs, and shows where they lead. */
export interface Redirects extends Pick<LookUps.LookUps, "reserveNow"> {
  /**
   * Whether the alias that a path means may have several of its segments. A link whose database does not answer redirects as it did before, and so does what follows its key, unless the domain is known to
   * have such aliases.
   */
  readonly mayBeLong: (path: Redirect.ShortPath) => boolean
  /** Leads to the target of a key. `found`: the row that `Links` has already given for this request, if it has. */
  readonly redirect: (request: Request, path: Redirect.ShortPath, found?: Found) => Effect.Effect<Answer>
  /** Shows the target of a key. */
  readonly preview: (request: Request, path: Redirect.ShortPath) => Effect.Effect<Answer>
  /** Leads to the target of a key whose password the request has. */
  readonly unlock: (request: Request, path: Redirect.ShortPath) => Effect.Effect<Answer>
}

/** See {@link Redirects}. */
export const make = ({ baseUrl }: { readonly baseUrl: URL }) =>
  Effect.gen(function* () {
    const links = yield* Links
    const leading = { targets: yield* TargetPolicy, factsOf: yield* VisitorFacts.make }
    const { targets } = leading
    const passwords = yield* Passwords
    const record = yield* makeRecorder
    const recordOrphan = yield* makeOrphanRecorder
    const clock = yield* Effect.clock
    const totals = yield* VisitTotals.make
    const quotas = yield* Quotas
    const lookUps = yield* LookUps.make
    const { clientOf } = yield* ClientAddress
    const pages = yield* VisitorPages
    const longAliases = yield* LongAliases
    const naming = { baseUrl, domains: yield* Domains }

    /** The row of a key. */
    const lookUp = (request: Request, key: string, find: Found) =>
      lookUps.lookUp(request, key, orProblem(isLinkText(key) ? find : Effect.succeed(null)))

    /** The link of a row, where it leads somewhere now. */
    const findLive = Effect.fnUntraced(function* (row: Effect.Effect<Link | null, Problem.Problem>) {
      const found = Redirect.findLive(yield* row, yield* Clock.currentTimeMillis, targets)
      return Redirect.isProblem(found) ? yield* Effect.fail(found) : found
    })

    /** Takes one redirect of the owner's, mostly without an effect. */
    const checkQuota = (link: Link) => {
      const standing = quotas.redirectNow(link)
      const taken = standing === undefined ? quotas.redirect(link) : Effect.succeed(standing)
      return saying("owner-limit")(RateLimit.check(taken))
    }

    /** Leads to the target as it was decided: takes the owner's quota and the link's visit first. */
    const lead = Effect.fnUntraced(function* (
      request: Request,
      decision: Extract<Redirect.Decision, { readonly kind: "redirect" }>,
      status: Link["redirectStatus"] | 303
    ) {
      const { link, location, visit } = decision
      yield* checkQuota(link)
      if (Redirect.isProblem(location)) return yield* Effect.fail(location)
      if (visit === "granted" && !(yield* orProblem(links.visit(link.key)))) {
        return yield* Effect.fail(Redirect.usedUpOf(link, targets))
      }
      if (visit !== "none") record(request, decision, yield* Clock.currentTimeMillis)
      return Redirect.answerLed(decision, status, location)
    })

    const redirect = Effect.fnUntraced(function* (request: Request, path: Redirect.ShortPath, found?: Found) {
      const { key, rest } = path
      const row = yield* found === undefined
        ? lookUp(request, key, findAsWritten(naming.domains, links.findToRedirect, key))
        : orProblem(found)
      const now = yield* Clock.currentTimeMillis
      const decision = Redirect.decideRedirect(row, request, now, leading, false, rest)
      switch (decision.kind) {
        case "refuse":
          return yield* Effect.fail(decision.problem)
        case "ask-password":
          return pages.askPassword(request, "asked")
        case "redirect": {
          const { link, location } = decision
          const card = Redirect.cardFor(link, request)
          if (card !== undefined && !Redirect.isProblem(location)) {
            return pages.card(card, location, link.crawlable, decision.vary)
          }
          return yield* lead(request, decision, link.redirectStatus)
        }
      }
    }, Traced.span("redirect"))

    const preview = Effect.fnUntraced(function* (
      request: Request,
      { key }: Redirect.ShortPath,
      found?: Found
    ) {
      const row =
        found === undefined
          ? lookUp(request, key, findAsWritten(naming.domains, links.find, key))
          : orProblem(found)
      const link = yield* findLive(row)
      const target = Redirect.targetOf(link, request, yield* Clock.currentTimeMillis, leading)
      if (Redirect.isProblem(target)) return yield* Effect.fail(target)
      const [visits] = yield* totals([link])
      if (visits!.unavailable === true) return yield* Effect.fail(Problem.unavailable)
      const total = visits!.total + VisitTotals.importedOf(link).total
      return pages.preview(request, previewOf(link, namesOf(link.key, naming), target, total))
    }, Traced.span("preview"))

    const isPasswordOf = (link: Link, password: string) =>
      isTooLong(password)
        ? Effect.succeed(false)
        : Problem.orUnavailable(passwords.verify(link.passwordHash, Redacted.make(password), "unlock"))

    /** Also of a link that has no password any more: its visitor has still the form. */
    const unlock = Effect.fnUntraced(function* (
      request: Request,
      { key, rest }: Redirect.ShortPath,
      found?: Found
    ) {
      const find = findAsWritten(naming.domains, links.find, key)
      const liveOf = (row: Link | null) =>
        rest !== undefined && row?.extras?.forwardPath !== true
          ? Effect.fail(Redirect.noPath)
          : findLive(Effect.succeed(row))
      const first = yield* found === undefined ? lookUp(request, key, find) : orProblem(found)
      if ((yield* liveOf(first)).passwordHash !== null) {
        const taken = quotas.unlock(clientOf(request), first!.key)
        yield* saying("too-many-passwords")(RateLimit.check(taken))
      }
      const password = (yield* Body.readForm(request)).get("password") ?? ""
      // Again, since a form can take seconds, in which a link is changed or deleted.
      const link = yield* liveOf(yield* orProblem(find))
      if (link.passwordHash !== null && !(yield* isPasswordOf(link, password))) {
        return pages.askPassword(request, "wrong")
      }
      const now = yield* Clock.currentTimeMillis
      const decision = Redirect.decideRedirect(link, request, now, leading, true, rest)
      // It may have ended while the password was checked.
      if (decision.kind === "refuse") return yield* Effect.fail(decision.problem)
      if (decision.kind !== "redirect") return yield* Effect.fail(Redirect.usedUpOf(link, targets))
      return yield* lead(request, decision, 303)
    }, Traced.span("unlock"))

    /** Where a visitor is sent by the link or its domain who sees a page: clients that prefer JSON keep their problem. */
    const targetOf = (
      request: Request,
      domain: number,
      reason: OrphanReason | undefined,
      ofLink: string | undefined
    ): string | null => {
      if (reason === undefined || formFor(request, "page") !== "page") return null
      if (ofLink !== undefined) return ofLink
      return naming.domains.targetOf(domain, reason, targets)
    }

    const refuse = (
      request: Request,
      key: string,
      { elsewhere, reason, ...refusal }: Refusal & Redirect.Refused,
      purpose: Purpose
    ): Answer => {
      if (purpose === "preview") return pages.refuse(request, refusal)
      const { domain } = domainKeyOf(key)
      if (reason !== undefined && purpose === "redirect" && request.method === "GET") {
        recordOrphan(request, domain, reason, clock.unsafeCurrentTimeMillis())
      }
      const target = targetOf(request, domain, reason, elsewhere)
      return target === null
        ? pages.refuse(request, refusal)
        : Redirect.answerElsewhere(request.method === "POST" ? 303 : 302, target)
    }

    const answering =
      (
        work: (
          request: Request,
          path: Redirect.ShortPath,
          found?: Found
        ) => Effect.Effect<Answer, Refusal & Redirect.Refused>,
        purpose: Purpose
      ) =>
      (request: Request, path: Redirect.ShortPath, found?: Found) =>
        Effect.catchAll(work(request, path, found), (refusal) =>
          Effect.sync(() => refuse(request, path.key, refusal, purpose))
        )

    /** The row that a path with several segments means, which counts as one look-up. */
    const resolve = (request: Request, path: Redirect.ShortPath, find: (typeof links)["find"]) => {
      const { texts, whole } = Redirect.longPathOf(path)
      const [first, ...others] = texts
      const findFirst = others.reduce<Found>(
        (found, text) =>
          Effect.flatMap(found, (row) =>
            row === null ? findAsWritten(naming.domains, find, text) : Effect.succeed(row)
          ),
        findAsWritten(naming.domains, find, first)
      )
      return Effect.map(lookUp(request, first, findFirst), (row) => {
        // A preview is not posted to.
        const mayBePreview = request.method !== "POST"
        if (row === null) {
          const previewed = Redirect.previewedBy(whole)
          const isPreview = mayBePreview && previewed !== undefined && isAlias(previewed)
          return { row, meant: path, isPreview }
        }
        const { isPreview, rest } = Redirect.behindKey(whole, row)
        if (isPreview && !mayBePreview) return { row: null, meant: path, isPreview: false }
        return { row, meant: { key: row.key, rest }, isPreview }
      })
    }

    const [redirected, previewed, unlocked] = [
      answering(redirect, "redirect"),
      answering(preview, "preview"),
      answering(unlock, "unlock")
    ]

    const mayBeLong: Redirects["mayBeLong"] = ({ key, rest }) => {
      if (rest === undefined) return false
      const { domain } = domainKeyOf(key)
      return longAliases.areIn(domain) || (longAliases.isBehind() && !links.isAway(key))
    }

    /** Answers a path of which it has to be found out first how many of its segments are the alias. */
    const resolving =
      (work: typeof redirected, find: (typeof links)["find"], purpose: Purpose): typeof redirected =>
      (request, path, found) =>
        found !== undefined || !mayBeLong(path)
          ? work(request, path, found)
          : Effect.matchEffect(resolve(request, path, find), {
              onFailure: (refusal) => Effect.sync(() => refuse(request, path.key, refusal, purpose)),
              onSuccess: ({ isPreview, meant, row }) =>
                (isPreview ? previewed : work)(request, meant, Effect.succeed(row))
            })

    return {
      reserveNow: lookUps.reserveNow,
      mayBeLong,
      redirect: resolving(redirected, links.findToRedirect, "redirect"),
      preview: previewed,
      unlock: resolving(unlocked, links.find, "unlock")
    } satisfies Redirects
  })
