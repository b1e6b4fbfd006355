import { Clock, Effect, Either, Schema, Struct } from "effect"
import type { KnownCaller } from "../../accounts/Access.ts"
import { Links } from "../../actors/links/Links.ts"
import * as Concurrent from "../../fibers/Concurrent.ts"
import { changed, conditionOf, Link, unlessChosen } from "../../model/Link.ts"
import { isFound, isListed } from "../../storage/links/LinkFilter.ts"
import type { LinkQuery, Position } from "../../storage/links/LinkStore.ts"
import * as Traced from "../../telemetry/Traced.ts"
import { monotonic_ms } from "../../time/MonotonicTime.ts"
import { type BulkEditAnswer, BulkEditBody, bulkEditMax } from "../contract/LinkSchemas.ts"
import { Domains } from "../domains/Domains.ts"
import { json } from "../exchange/Answer.ts"
import * as Body from "../exchange/Body.ts"
import * as Caller from "../exchange/Caller.ts"
import * as Decode from "../exchange/Decode.ts"
import * as Problem from "../exchange/Problem.ts"
import type { Request } from "../exchange/Request.ts"
import type { CreationOptions } from "./Creation.ts"
import { namesOf, orProblem } from "./LinkAnswers.ts"
import { distinct } from "./LinkChecks.ts"
import type { LinkEditing } from "./LinkEditing.ts"
import * as ListRequest from "./ListRequest.ts"
import * as ManagedLink from "./ManagedLink.ts"
import * as PatchRequest from "./PatchRequest.ts"

/** Links that are edited at once. */
const atOnce = 16

/** Tries to edit a link that others keep changing: each has another change before it. */
const triesMax = 4

/** No further links are begun with after this, nor tries: those that are under way take 4 s at most, and the answer 5 s. */
const beginFor_ms = 1_000

/** The newest first: what is created meanwhile is not in what was counted before. */
const order = "createdAt-desc"

// The change is checked by itself: `null` clears, and faults are named as in a patch.
const Said = Schema.Struct({
  ...Struct.omit(BulkEditBody.fields, "change"),
  change: Schema.optionalWith(Schema.Unknown, { exact: true })
})

const decodeBody = Decode.body(Said)
const decodeTags = Decode.body(BulkEditBody.fields.change.from.pipe(Schema.pick("addTags", "removeTags")))

type Result = (typeof BulkEditAnswer.Type)["results"][number]

/** Gives the patch of a link, or why it cannot be changed like this. */
type PatchOf = (link: Link) => Either.Either<PatchRequest.Patch, Problem.Problem>

/** What a request does to each link. */
interface Edit {
  readonly request: Request
  readonly caller: KnownCaller
  /** Which links it is about. */
  readonly query: LinkQuery
  /** Deletes where there is none. */
  readonly patchOf: PatchOf | undefined
  /** When it began, in milliseconds by the monotonic clock. */
  readonly begun_ms: number
}

const isSame = Schema.equivalence(Link)

/** Whether a patch leaves a link as it is. */
const leaves = (link: Link, { change, password }: PatchRequest.Patch): boolean =>
  isSame(link, changed(link, { ...change, ...(password === null && { passwordHash: null }) }))

/** A link that no check of its other fields refuses. */
const anyLink: Link = {
  ...unlessChosen,
  key: "any",
  url: "",
  owner: null,
  custom: false,
  createdAt: 0,
  updatedAt: 0,
  deletedAt: null,
  visitsLeft: null
}

/** A problem with its fields named as this body has them. */
const renamed =
  (pathOf: (path: string) => string) =>
  (problem: Problem.Problem): Problem.Problem =>
    problem.errors === undefined
      ? problem
      : Problem.faulty(
          problem.kind,
          problem.errors.map(({ message, path }) => ({ path: pathOf(path), message }))
        )

const inFilter = renamed((path) => (path === "cursor" ? path : `filter.${path}`))
const inChange = renamed((path) => (path === "" ? "change" : `change.${path}`))

/** Understands a change of many links; the problem is that of the request, whatever the links. */
const patchOf = (
  change: unknown,
  policy: Parameters<typeof PatchRequest.check>[2],
  now: number
): Either.Either<PatchOf, Problem.Problem> =>
  Either.gen(function* () {
    if (!Decode.isObject(change)) return yield* Problem.oneFault("invalid-request", "", "must be an object")
    const { addTags, removeTags, ...fields } = change
    const { addTags: added = [], removeTags: removed = [] } = yield* decodeTags({
      ...(addTags !== undefined && { addTags }),
      ...(removeTags !== undefined && { removeTags })
    })
    const changesTags = addTags !== undefined || removeTags !== undefined
    if (Object.keys(change).length === 0) {
      return yield* Problem.oneFault("invalid-request", "", "must name a field at least")
    }
    if (changesTags && "tags" in fields) {
      return yield* Problem.oneFault("invalid-request", "tags", "cannot stand beside addTags and removeTags")
    }
    if (typeof fields["password"] === "string") {
      return yield* Problem.oneFault("invalid-request", "password", "is set for each link by itself")
    }
    if (typeof fields["expiresIn"] === "string") {
      return yield* Problem.oneFault(
        "invalid-request",
        "expiresIn",
        "would differ in a repeat: use expiresAt"
      )
    }
    yield* PatchRequest.check(fields, anyLink, policy, now)
    const tagsOf = ({ tags }: Link) => distinct([...tags.filter((tag) => !removed.includes(tag)), ...added])
    return (link: Link) =>
      PatchRequest.check({ ...fields, ...(changesTags && { tags: tagsOf(link) }) }, link, policy, now)
  }).pipe(Either.mapLeft(inChange))

const hasTime = ({ begun_ms }: Edit) => Effect.map(monotonic_ms, (now_ms) => now_ms - begun_ms < beginFor_ms)

/**
 * Changes or deletes the links of a filter, each as a request for it alone would. What is written follows from what was read, so it is written only while the
 * link is as it was read, as far as filters look at it; else it is read again. One that the filter has no more by then has no result.
 */
export const make = Effect.fnUntraced(function* (options: CreationOptions, editing: LinkEditing) {
  const links = yield* Links
  const identify = yield* Caller.make
  const naming = { baseUrl: options.own.baseUrl, domains: yield* Domains }

  /** Edits a link that is still as this one, and was as another one when that was tried `before`. Otherwise there is none (`ManagedLink.noLink`). */
  const tried = Effect.fnUntraced(function* (
    { caller, patchOf, request }: Edit,
    link: Link,
    before: Link | undefined
  ) {
    const meanwhile = { onlyIf: conditionOf(link), before }
    if (patchOf === undefined) {
      yield* editing.remove(request, caller, link, meanwhile)
      return { status: 204 as const, changed: true }
    }
    const patch = yield* patchOf(link)
    if (leaves(link, patch)) return { status: 200 as const, changed: false }
    yield* editing.change(request, caller, link, patch, meanwhile)
    return { status: 200 as const, changed: true }
  })

  /** Edits a link as it is, from the one that was listed on; gives `undefined` if the filter does not have it any more. */
  const done = (edit: Edit, listed: Link) =>
    Effect.gen(function* () {
      let link = listed
      let before: Link | undefined
      for (let tries = 1; ; tries++) {
        const outcome = yield* Effect.either(tried(edit, link, before))
        if (Either.isRight(outcome) || outcome.left !== ManagedLink.noLink) return yield* outcome
        const row = yield* orProblem(links.findStored(link.key))
        if (row === null || row.deletedAt !== null) return yield* outcome
        if (!isListed(row, edit.query) || !isFound(row, edit.query)) return undefined
        if (tries === triesMax || !(yield* hasTime(edit))) {
          return yield* Problem.orUnavailable(Effect.fail({ reason: "a link was changed before each try" }))
        }
        before = link
        link = row
      }
    })

  const edited = (edit: Edit, link: Link): Effect.Effect<ReadonlyArray<Result>> =>
    done(edit, link).pipe(
      Effect.catchAll((problem) =>
        Effect.succeed({ status: Problem.statusOf(problem.kind), problem: Problem.bodyOf(problem) })
      ),
      Effect.map((result) =>
        result === undefined ? [] : [{ ...Struct.omit(namesOf(link.key, naming), "shortUrl"), ...result }]
      )
    )

  return Effect.fnUntraced(function* (request: Request) {
    const editor = Effect.flatMap(identify(request), (caller) =>
      Effect.zipRight(Caller.requireScope(caller, "links:read"), Caller.requireScope(caller, "links:write"))
    )
    const begun_ms = yield* monotonic_ms
    const [caller, given] = yield* Caller.withBody(editor, Body.read(request))
    const body = yield* decodeBody(given)
    if ((body.change === undefined) === (body.delete === undefined)) {
      return yield* Problem.oneFault("invalid-request", "change", "or delete must be there, and not both")
    }
    const patch =
      body.change === undefined
        ? undefined
        : yield* patchOf(body.change, editing.policyOf(request), yield* Clock.currentTimeMillis)
    const isDryRun = body.dryRun === true
    const parameters = {
      ...body.filter,
      orderBy: order,
      limit: String(isDryRun ? 1 : (body.limit ?? bulkEditMax)),
      ...(isDryRun && { total: "true" }),
      ...(body.cursor !== undefined && { cursor: body.cursor })
    }
    const query = yield* Either.mapLeft(ListRequest.check(parameters, caller, naming.domains), inFilter)
    const page = yield* orProblem(links.list(query))
    const partial = page.isPartial === true && { partial: true as const }
    if (isDryRun) {
      const answer: typeof BulkEditAnswer.Type = {
        changed: 0,
        unchanged: 0,
        failed: 0,
        results: [],
        nextCursor: null,
        total: page.total!,
        ...partial
      }
      return json(answer)
    }
    const edit: Edit = { request, caller, query, patchOf: patch, begun_ms }
    const results: Array<Result> = []
    let lookedAt = 0
    let next: Position | null = page.next
    while (lookedAt < page.links.length) {
      const some = page.links.slice(lookedAt, lookedAt + atOnce)
      lookedAt += some.length
      results.push(...(yield* Concurrent.forEach(some, (link) => edited(edit, link))).flat())
      const isAway = results.some(({ status }) => status === 503)
      if (!isAway && (yield* hasTime(edit))) continue
      if (lookedAt < page.links.length) next = page.links[lookedAt - 1]!
      break
    }
    const changedCount = results.filter((result) => "changed" in result && result.changed).length
    const failed = results.filter((result) => "problem" in result).length
    const answer: typeof BulkEditAnswer.Type = {
      changed: changedCount,
      unchanged: results.length - changedCount - failed,
      failed,
      results,
      nextCursor: next === null ? null : ListRequest.cursorOf(order, next),
      ...partial
    }
    return json(answer)
  }, Traced.span("links.editBulk"))
})
