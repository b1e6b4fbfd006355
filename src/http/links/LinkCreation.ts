import { Clock, Context, Effect, Either, Layer } from "effect"
import { Quotas } from "../../accounts/Quotas.ts"
import type { Standing } from "../../accounts/Meter.ts"
import { type Guarding, type LinkDraft, Links } from "../../actors/links/Links.ts"
import { ReusedLinks } from "../../actors/links/ReusedLinks.ts"
import type { Link } from "../../model/Link.ts"
import { type Answer, ofJson } from "../exchange/Answer.ts"
import * as Body from "../exchange/Body.ts"
import * as Caller from "../exchange/Caller.ts"
import { ClientAddress } from "../exchange/ClientAddress.ts"
import * as CreateRequest from "./CreateRequest.ts"
import { isObject } from "../exchange/Decode.ts"
import * as Idempotency from "./Idempotency.ts"
import { aliasTaken, createAnswer } from "./LinkAnswers.ts"
import * as LinkChecking from "./LinkChecking.ts"
import { bulkMax } from "../contract/LinkSchemas.ts"
import * as PlainCreation from "./PlainCreation.ts"
import * as Problem from "../exchange/Problem.ts"
import * as RateLimit from "../exchange/RateLimit.ts"
import type { Request } from "../exchange/Request.ts"
import * as VisitTotals from "./VisitTotals.ts"
import * as Traced from "../../telemetry/Traced.ts"

/** What the link routes need to know of the operator's choices. */
export type LinkRoutesOptions = PlainCreation.CreationOptions

/** What the body of a bulk may be: its largest links have 35 values. */
const bulkBounds: Body.BodyBounds = { bytesMax: 4 * 1024 * 1024, valuesMax: 64 * bulkMax }

/** Links of a bulk that may have a password: each takes a hash. */
const bulkPasswordsMax = 20

const bulkPassword = Problem.faulty("forbidden", [
  { path: "password", message: "is for users alone in a bulk. Create this link by itself." }
])

const tooManyPasswords = Problem.faulty("invalid-request", [
  { path: "password", message: `is for ${bulkPasswordsMax} links of a bulk at most` }
])

/** Items of a bulk that are created one by one, of which each may take a key: as many are under way at once as there are keys in a buffer. */
const othersAtOnce = 500

/** Items of a bulk that are looked at before other fibers have their turn: one that is refused can take half a millisecond. */
const itemsAtOnce = 16

/** Faults that the answer to a bulk lists, beside the first of each item. */
const faultsMax = 200

/** Lets other fibers run before this item of a bulk, where enough have been looked at. */
const between = (index: number): Effect.Effect<void> =>
  index % itemsAtOnce === 0 && index > 0 ? Effect.yieldNow() : Effect.void

const noAnswers: ReadonlyMap<number, Idempotency.Answer> = new Map()

const problemAnswer = (problem: Problem.Problem): Idempotency.Answer => ({
  status: Problem.statusOf(problem.kind),
  contentType: Problem.contentType,
  location: null,
  body: JSON.stringify(Problem.bodyOf(problem))
})

const listOf = (json: unknown): Either.Either<ReadonlyArray<unknown>, Problem.Problem> => {
  if (!isObject(json)) return Problem.oneFault("invalid-request", "", "The body must be a JSON object.")
  const unknown = Object.keys(json).find((name) => name !== "links")
  if (unknown !== undefined) return Problem.oneFault("invalid-request", unknown, "is not a known field")
  const { links } = json
  return Array.isArray(links) && links.length >= 1 && links.length <= bulkMax
    ? Either.right(links as ReadonlyArray<unknown>)
    : Problem.oneFault(
        "invalid-request",
        "links",
        `must be a list of 1 to ${bulkMax.toLocaleString("en")} links`
      )
}

type Checked = Either.Either<CreateRequest.Create, Problem.Problem>

/** Who creates, and what he is held to. */
interface Creator {
  readonly owner: string | null
  readonly keyLimit: ReturnType<typeof Caller.keyLimitOf>
  readonly policy: CreateRequest.CreatePolicy
  /** Takes one create. */
  readonly quota: Effect.Effect<Standing | null>
}

/** Creates links, one or many at a time. */
export class LinkCreation extends Context.Tag("linkmint/LinkCreation")<
  LinkCreation,
  {
    readonly one: (request: Request) => Effect.Effect<Answer, Problem.Problem>
    /** The same for creates that need no effect; `false`, and nothing is done, for others. */
    readonly soon: PlainCreation.PlainCreation
    /** Each item is a create of its own, also for repeats: its key is the bulk's, with its place. */
    readonly bulk: (request: Request) => Effect.Effect<Answer, Problem.Problem>
  }
>() {}

/** See {@link LinkCreation}. */
export const make = Effect.fnUntraced(function* (options: LinkRoutesOptions) {
  const checks = yield* LinkChecking.make(options)
  const identify = yield* Caller.make
  const links = yield* Links
  const reused = yield* ReusedLinks
  const once = yield* Idempotency.make
  const quotas = yield* Quotas
  const { clientOf } = yield* ClientAddress
  const totals = yield* VisitTotals.make
  const { baseUrl } = options.own
  const plainCreation = yield* PlainCreation.make(options)

  const created = (link: Link) => createAnswer(201, link, baseUrl, VisitTotals.none)

  /** An anonymous creator has no links of his own to be given again. */
  const linkFor = (draft: LinkDraft, reuse: boolean, guarding: Guarding) => {
    const { owner } = draft
    if (reuse && owner !== null) return reused.get({ ...draft, owner }, guarding)
    const create = guarding.guards.length === 0 ? links.create(draft) : links.createGuarded(draft, guarding)
    return Effect.map(create, (link) => ({ link, isNew: true }))
  }

  /** Gives also how the quota stands that it was counted for, if it was. */
  const createOne = Effect.fnUntraced(function* (
    json: unknown,
    checked: Effect.Effect<CreateRequest.Create, Problem.Problem>,
    key: string | undefined,
    { keyLimit, owner, quota }: Creator
  ) {
    let standing: Standing | null = null
    const create = (guarding: Guarding) =>
      Effect.gen(function* () {
        const { draft, password, reuse } = yield* checked
        standing = yield* RateLimit.check(quota)
        const passwordHash = password === null ? null : yield* checks.hash(password, owner)
        const { isNew, link } = yield* linkFor(
          { ...draft, ...keyLimit, passwordHash, owner },
          reuse,
          guarding
        )
        if (isNew) return { answer: created(link), isSettled: true }
        const [visits] = yield* totals([link])
        return { answer: createAnswer(200, link, baseUrl, visits!), isSettled: false }
      }).pipe(
        // Kept for repeats, since the alias may be free later.
        Effect.catchTag("AliasTaken", ({ alias }) =>
          Effect.succeed({ answer: problemAnswer(aliasTaken(alias)), isSettled: false })
        )
      )
    const answered = yield* once({ key, owner, body: json, answerOf: created, create })
    return { answered, standing }
  })

  /** Checks the items of a bulk. */
  const checkAll = Effect.fnUntraced(function* (items: ReadonlyArray<unknown>, { owner, policy }: Creator) {
    const now = yield* Clock.currentTimeMillis
    const all: Array<Checked> = []
    let faults = 0
    let passwords = 0
    for (const json of items) {
      yield* between(all.length)
      const checked = Either.filterOrLeft(
        CreateRequest.check(json, policy, now),
        ({ password }) => password === null || (owner !== null && ++passwords <= bulkPasswordsMax),
        () => (owner === null ? bulkPassword : tooManyPasswords)
      )
      if (Either.isLeft(checked)) {
        faults += checked.left.errors?.length ?? 0
        all.push(faults > faultsMax ? Either.mapLeft(checked, Problem.withFirstFault) : checked)
      } else all.push(checked)
    }
    return all as ReadonlyArray<Checked>
  })

  /**
   * The answers to those items of a bulk that get a minted key and need nothing else first, by their places, and to those that are refused at once.
   * They are bound together, at a fraction of the cost.
   */
  const createPlain = Effect.fnUntraced(function* (
    items: ReadonlyArray<Checked>,
    { keyLimit, owner, quota }: Creator
  ) {
    const answers = new Map<number, Idempotency.Answer>()
    const drafts: Array<readonly [index: number, draft: LinkDraft]> = []
    for (const [index, checked] of items.entries()) {
      yield* between(index)
      if (Either.isLeft(checked)) {
        answers.set(index, problemAnswer(checked.left))
        continue
      }
      const { draft } = checked.right
      if (!CreateRequest.isPlain(checked.right, owner)) continue
      const standing = yield* quota
      if (standing?.isAllowed === false) answers.set(index, problemAnswer(RateLimit.problemOf(standing)))
      else drafts.push([index, { ...draft, ...keyLimit, passwordHash: null, owner }])
    }
    const made = yield* links.createMany(drafts.map(([, draft]) => draft))
    for (const [place, [index]] of drafts.entries()) {
      yield* between(place)
      const link = made[place]!
      if (Either.isRight(link)) answers.set(index, created(link.right))
      else
        answers.set(index, problemAnswer(yield* Effect.flip(Problem.orUnavailable(Effect.fail(link.left)))))
    }
    return answers as ReadonlyMap<number, Idempotency.Answer>
  })

  const identified = Effect.fnUntraced(function* (request: Request) {
    const caller = yield* identify(request)
    yield* Caller.requireCreator(caller, options.anonymousCreates)
    return {
      owner: Caller.ownerOf(caller),
      keyLimit: Caller.keyLimitOf(caller),
      key: yield* Idempotency.keyOf(request),
      quota: quotas.create(caller, clientOf(request)),
      policy: checks.policyOf(request)
    }
  })

  const one = Effect.fnUntraced(function* (request: Request) {
    const { key, ...creator } = yield* identified(request)
    const json = yield* Body.read(request)
    const checked = Effect.flatMap(Clock.currentTimeMillis, (now) =>
      CreateRequest.check(json, creator.policy, now)
    )
    const { answered, standing } = yield* createOne(json, checked, key, creator)
    return RateLimit.shownIn(Idempotency.respond(answered), standing)
  }, Traced.span("links.create"))

  return LinkCreation.of({
    one,
    soon: plainCreation(one),

    bulk: Effect.fnUntraced(function* (request: Request) {
      const { key, ...creator } = yield* identified(request)
      const items = yield* listOf(yield* Body.read(request, bulkBounds))
      const checked = yield* checkAll(items, creator)
      const plain = key === undefined ? yield* createPlain(checked, creator) : noAnswers
      const others = [...items.entries()].filter(([index]) => !plain.has(index))
      const each = yield* Effect.forEach(
        others,
        ([index, item]) =>
          createOne(item, checked[index]!, key === undefined ? undefined : `${key}\n${index}`, creator).pipe(
            Effect.map(({ answered }) => answered.answer),
            Effect.catchAll((problem) => Effect.succeed(problemAnswer(problem)))
          ),
        { concurrency: othersAtOnce }
      )
      const answers: Array<Idempotency.Answer> = []
      for (const [index, answer] of plain) answers[index] = answer
      others.forEach(([index], place) => (answers[index] = each[place]!))
      const results = answers.map(({ body, contentType, status }) => {
        const name = contentType === Problem.contentType ? "problem" : "link"
        return `{"status":${status},"${name}":${body}}`
      })
      return ofJson(`{"results":[${results.join(",")}]}`)
    }, Traced.span("links.createBulk"))
  })
})

/** See {@link LinkCreation}. */
export const layer = (options: LinkRoutesOptions) => Layer.effect(LinkCreation, make(options))
