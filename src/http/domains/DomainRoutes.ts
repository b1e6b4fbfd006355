import { Clock, Effect, Either, Option, Record } from "effect"
import * as AuditRecorder from "../../accounts/AuditRecorder.ts"
import { Links } from "../../actors/links/Links.ts"
import type { AuditAction } from "../../model/Audit.ts"
import {
  type Domain,
  domainsMax,
  type DomainTargets,
  hostNamed,
  noTargets,
  parseHost
} from "../../model/Domain.ts"
import * as Iso8601 from "../../model/Iso8601.ts"
import * as Secret from "../../secrets/Secret.ts"
import { DomainStore } from "../../storage/domains/DomainStore.ts"
import type { StorageError } from "../../storage/StorageError.ts"
import { type DomainBody, DomainChangeBody, NewDomainBody } from "../contract/DomainApi.ts"
import type { OperationsOf } from "../contract/Operations.ts"
import { empty, json } from "../exchange/Answer.ts"
import * as Body from "../exchange/Body.ts"
import * as Caller from "../exchange/Caller.ts"
import * as Decode from "../exchange/Decode.ts"
import * as Problem from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"
import * as RequestDoer from "../exchange/RequestDoer.ts"
import { orProblem } from "../links/LinkAnswers.ts"
import { checkUrl, type LinkPolicy } from "../links/LinkChecks.ts"
import { TargetPolicy } from "../links/TargetPolicy.ts"
import * as TargetUrl from "../links/TargetUrl.ts"
import * as Capitals from "./Capitals.ts"
import { DomainProofs } from "./DomainProofs.ts"
import { Domains, mayUse } from "./Domains.ts"

const decodeNew = Decode.body(NewDomainBody)
const decodeChange = Decode.body(DomainChangeBody)

const noDomain: Problem.Problem = { kind: "not-found", detail: "There is no domain with this host." }

const busy: Problem.Problem = {
  ...Problem.unavailable,
  detail: "Another domain is being verified. Please try again."
}

const filePath = "/.well-known/linkmint-domain"

/** Where a domain's proof is looked for, and what it is. */
const proofOf = ({ host, token }: Domain) => ({
  txt: { name: `_linkmint.${host}`, value: `linkmint-domain=${token}` },
  file: { url: `http://${host}${filePath}`, content: token }
})

const bodyOf = (domain: Domain, isAdmin: boolean): typeof DomainBody.Type => ({
  host: domain.host,
  verifiedAt: Iso8601.formatOptionalMoment(domain.verifiedAt),
  owners: domain.owners,
  targets: domain.targets,
  ignoresCase: domain.ignoresCase,
  createdAt: Iso8601.formatMoment(domain.createdAt),
  updatedAt: Iso8601.formatMoment(domain.updatedAt),
  ...(isAdmin && { proof: proofOf(domain) })
})

/** The targets as they are stored. */
const checkTargets = (
  targets: NonNullable<typeof DomainChangeBody.Type.targets>,
  policy: LinkPolicy
): Either.Either<Partial<DomainTargets>, Problem.Problem> =>
  Either.all(
    Record.map(targets as { readonly [name: string]: string | null }, (url, name) =>
      url === null ? Either.right(null) : checkUrl(url, policy, `targets.${name}`)
    )
  )

/** Aliases with capital letters that a report names at most, and the refusal of a change. */
const capitalsMax = 100
const namedMax = 5

/** Lists, adds, changes, verifies and removes further domains. */
export const make = Effect.fnUntraced(function* (own: TargetUrl.OwnAddress) {
  const store = yield* DomainStore
  const known = yield* Domains
  const proofs = yield* DomainProofs
  const targetPolicy = yield* TargetPolicy
  const links = yield* Links
  const identify = yield* Caller.make
  const { doerOf } = yield* RequestDoer.make
  const recording = yield* AuditRecorder.make
  // A name server can hold a look up for seconds.
  const verifying = yield* Effect.makeSemaphore(1)

  const requireAdmin = (request: Request) =>
    Effect.flatMap(identify(request), (caller) => Caller.requireScope(caller, "admin"))

  /** Reads the domains again. This node goes by them at once, the others within {@link readEvery}. */
  const refresh = Effect.map(store.read(null), (list) => {
    if (list !== null) known.set(list)
    return list?.domains ?? []
  })

  const domainAt = Effect.fnUntraced(function* (text: string) {
    const host = hostNamed(text)
    const found = (yield* Problem.orUnavailable(refresh)).find((domain) => domain.host === host)
    return found ?? (yield* Effect.fail(noDomain))
  })

  /** Does something to a domain, and records it. */
  const acting = <A>(
    request: Request,
    caller: Caller.Caller,
    action: AuditAction,
    host: string,
    act: Effect.Effect<A, StorageError>,
    isDone: (result: A) => boolean
  ) =>
    Problem.orUnavailable(
      Effect.zipLeft(
        recording(doerOf(request, caller), act, (result) => (isDone(result) ? [[action, host, null]] : [])),
        // The act is done, and this node reads again soon.
        Effect.ignore(refresh)
      )
    )

  const orNone = (domain: Domain | null) =>
    domain === null ? Effect.fail(noDomain) : Effect.succeed(json(bodyOf(domain, true)))

  const reading: Capitals.LinkReading<Problem.Problem> = {
    list: (query) =>
      Effect.filterOrFail(
        orProblem(links.list(query)),
        ({ isPartial }) => isPartial !== true,
        () => Problem.unavailable
      ),
    findMany: (texts) => Effect.forEach(texts, (text) => orProblem(links.find(text)), { concurrency: 8 })
  }

  /** Refuses a domain that is to ignore case while it has aliases with capital letters, which would not be found then by whatever case. */
  const requireNoCapitals = Effect.fnUntraced(function* ({ host, number }: Domain) {
    const { isComplete, keys } = yield* Capitals.aliasesWithCapitals(reading.list, number, namedMax)
    yield* keys.length === 0
      ? Effect.void
      : Problem.refuse(
          "aliases-with-capitals",
          `Aliases of ${host} have capital letters: ${keys.join(", ")}${isComplete ? "" : ", …"}. Delete them, or make them anew in lower case, before it ignores case.`
        )
  })

  return {
    listCapitals: Effect.fn("domains.capitals")(function* (request, path) {
      yield* requireAdmin(request)
      const { number } = yield* domainAt(path.host)
      return json(yield* Capitals.report(reading, number, capitalsMax))
    }),

    listDomains: Effect.fn("domains.list")(function* (request) {
      const caller = yield* Caller.requireScope(yield* identify(request), "links:read")
      const all = yield* Problem.orUnavailable(refresh)
      const shown = caller.isAdmin ? all : all.filter((domain) => mayUse(domain, caller.userId))
      return json({ data: shown.map((domain) => bodyOf(domain, caller.isAdmin)) })
    }),

    addDomain: Effect.fn("domains.add")(function* (request) {
      const [caller, given] = yield* Caller.withBody(requireAdmin(request), Body.read(request))
      const { host: text, owners = null } = yield* decodeNew(given)
      const host = parseHost(text)
      if (host === undefined || known.isDefault(host)) {
        const message = host === undefined ? "must be a host name" : "is the default domain"
        return yield* Problem.oneFault("invalid-request", "host", message)
      }
      const domain = {
        host,
        owners,
        token: (yield* Secret.draw(16)).toString("hex"),
        targets: noTargets,
        ignoresCase: false,
        createdAt: yield* Clock.currentTimeMillis
      }
      const added = yield* acting(
        request,
        caller,
        "domain.added",
        host,
        store.add(domain, domainsMax),
        (added) => typeof added !== "string"
      )
      if (added === "taken") return yield* Problem.refuse("domain-taken", "There is a domain with this host.")
      if (added === "full") {
        return yield* Problem.refuse("too-many-domains", `There may be ${domainsMax} domains at most.`)
      }
      return json(bodyOf(added, true), 201)
    }),

    changeDomain: Effect.fn("domains.change")(function* (request, path) {
      const [caller, given] = yield* Caller.withBody(requireAdmin(request), Body.read(request))
      const { ignoresCase, owners, targets } = yield* decodeChange(given)
      const policy = {
        own: { ...own, reachedAt: TargetUrl.reachedBy(request.headers["host"]) },
        targets: targetPolicy,
        domains: known
      }
      const change = {
        ...(owners !== undefined && { owners }),
        ...(ignoresCase !== undefined && { ignoresCase }),
        ...(targets !== undefined && { targets: yield* checkTargets(targets, policy) })
      }
      const domain = yield* domainAt(path.host)
      const { host, number } = domain
      if (ignoresCase === true && !domain.ignoresCase) yield* requireNoCapitals(domain)
      const now = yield* Clock.currentTimeMillis
      const act = store.change(number, change, now)
      return yield* orNone(
        yield* acting(request, caller, "domain.changed", host, act, (changed) => changed !== null)
      )
    }),

    verifyDomain: Effect.fn("domains.verify")(function* (request, path) {
      const caller = yield* requireAdmin(request)
      const domain = yield* domainAt(path.host)
      const { host } = domain
      if (domain.verifiedAt !== null) return json(bodyOf(domain, true))
      const { file, txt } = proofOf(domain)
      const looked = yield* verifying.withPermitsIfAvailable(1)(
        Effect.all([proofs.txt(txt.name), proofs.file(host, filePath)], { concurrency: 2 })
      )
      if (Option.isNone(looked)) return yield* Effect.fail(busy)
      const [records, content] = looked.value
      if (!records.includes(txt.value) && content?.trim() !== file.content) {
        return yield* Problem.refuse(
          "domain-not-proven",
          `Neither the TXT record of ${txt.name} nor the file at ${file.url} is there yet.`
        )
      }
      const act = store.verify(domain.number, domain.token, yield* Clock.currentTimeMillis)
      return yield* orNone(
        yield* acting(request, caller, "domain.verified", host, act, (verified) => verified !== null)
      )
    }),

    removeDomain: Effect.fn("domains.remove")(function* (request, path) {
      const caller = yield* requireAdmin(request)
      const { host, number } = yield* domainAt(path.host)
      const removed = yield* acting(
        request,
        caller,
        "domain.removed",
        host,
        store.remove(number),
        (removed) => removed
      )
      return removed ? empty() : yield* Effect.fail(noDomain)
    })
  } satisfies OperationsOf<"domains">
})

/** Tells reverse proxies for which hosts they may get certificates. Nothing is read for it. */
export const certificates = Effect.map(
  Domains,
  (known) =>
    ({
      mayHave: (_, { domain = "" }) => {
        const host = typeof domain === "string" ? hostNamed(domain) : ""
        return known.isDefault(host) || (known.at(host)?.verifiedAt ?? null) !== null
          ? Effect.succeed(json({ host }))
          : Effect.fail(noDomain)
      }
    }) satisfies OperationsOf<"certificates">
)
