import { Clock, Effect, Either } from "effect"
import * as Concurrent from "../../fibers/Concurrent.ts"
import type { LinkDraft } from "../../actors/links/LinkDraft.ts"
import { Links } from "../../actors/links/Links.ts"
import { bulkMax } from "../contract/LinkSchemas.ts"
import { ofJson } from "../exchange/Answer.ts"
import type * as Body from "../exchange/Body.ts"
import { isObject } from "../exchange/Decode.ts"
import * as Problem from "../exchange/Problem.ts"
import * as RateLimit from "../exchange/RateLimit.ts"
import { checkUrl } from "./LinkChecks.ts"
import { type CreatePlan, plainDraftOf, planCreate } from "./CreatePlan.ts"
import { type CountedCreator, type Creation, problemAnswer } from "./Creation.ts"
import type * as Idempotency from "./Idempotency.ts"

/** What the body of a bulk may be: its largest links have 44 values. */
export const bulkBounds: Body.BodyBounds = { bytesMax: 4 * 1024 * 1024, valuesMax: 64 * bulkMax }

/** Links of a bulk that may have a password: each takes a hash. */
const bulkPasswordsMax = 20

const bulkPassword = Problem.faulty("forbidden", [
  { path: "password", message: "is for users alone in a bulk. Create this link by itself." }
])

const tooManyPasswords = Problem.faulty("invalid-request", [
  { path: "password", message: `is for ${bulkPasswordsMax} links of a bulk at most` }
])

/** Items of a bulk that are created one by one, at once at most: each may take a key, and a buffer has so many. */
const othersAtOnce = 500

/** Items of a bulk that are looked at before other fibers have their turn: one that is refused can take half a millisecond. */
const itemsAtOnce = 16

/** Faults that the answer to a bulk lists, beside the first of each item. */
const faultsMax = 200

/** Whether other fibers run before this item of a bulk, since enough have been looked at. */
const isBreak = (index: number): boolean => index % itemsAtOnce === 0 && index > 0

/** The items of a bulk's body. */
const itemsOf = (json: unknown): Either.Either<ReadonlyArray<unknown>, Problem.Problem> => {
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

/** The plan, held to what items of a bulk may ask for together. `bounds` counts what those before it have. */
const withinBulk = (
  plan: CreatePlan,
  owner: string | null,
  bounds: { faults: number; passwords: number }
): CreatePlan => {
  if (Either.isRight(plan.link) && plan.link.right.password === null) return plan
  const link = Either.filterOrLeft(
    plan.link,
    () => owner !== null && ++bounds.passwords <= bulkPasswordsMax,
    () => (owner === null ? bulkPassword : tooManyPasswords)
  )
  if (Either.isRight(link)) return plan
  bounds.faults += link.left.errors?.length ?? 0
  return { ...plan, link: bounds.faults > faultsMax ? Either.mapLeft(link, Problem.withFirstFault) : link }
}

/** An item whose link needs nothing but a minted key, and its draft. */
interface Plain {
  readonly item: Readonly<Record<string, unknown>>
  readonly draft: LinkDraft
}

/** Whether two fields say the same: texts, numbers, flags, and lists of them. */
const saySame = (one: unknown, other: unknown): boolean =>
  one === other ||
  (Array.isArray(one) &&
    Array.isArray(other) &&
    one.length === other.length &&
    one.every((part, place) => part === other[place]))

/** The URL of an item that says the same as another one beside it: its link is chosen alike, and only the URL is still to be checked. */
const urlBeside = (other: Plain["item"], item: unknown): string | undefined => {
  if (!isObject(item) || typeof item["url"] !== "string") return undefined
  const names = Object.keys(item)
  const isAlike =
    names.length === Object.keys(other).length &&
    names.every((name) => name === "url" || (Object.hasOwn(other, name) && saySame(item[name], other[name])))
  return isAlike ? item["url"] : undefined
}

/** A plan whose link counts as created at `now`, unless it was created elsewhere. */
const createdAt = (plan: CreatePlan, now: number): CreatePlan => {
  if (Either.isLeft(plan.link) || plan.link.right.draft.createdAt !== undefined) return plan
  const { draft, ...others } = plan.link.right
  return { ...plan, link: Either.right({ ...others, draft: { ...draft, createdAt: now } }) }
}

/**
 * {@link planCreate} and {@link withinBulk} of items, in their order. Most of a bulk say the same beside their URL, and cost a fraction then. Each counts as created a millisecond before
 * the one that precedes it, so that a list, with the newest first, has them in the order of the bulk.
 */
const planner = (owner: string | null, now: number) => {
  const bounds = { faults: 0, passwords: 0 }
  let latest: Plain | undefined
  return (item: unknown, index: number, creator: CountedCreator): LinkDraft | CreatePlan => {
    if (latest !== undefined) {
      const text = urlBeside(latest.item, item)
      const url = text === undefined ? undefined : checkUrl(text, creator.policy)
      if (url !== undefined && Either.isRight(url)) {
        return { ...latest.draft, url: url.right, createdAt: now - index }
      }
    }
    const plan = createdAt(withinBulk(planCreate(item, creator, now), owner, bounds), now - index)
    const draft = plainDraftOf(plan)
    if (draft === undefined) return plan
    latest = { item: item as Plain["item"], draft }
    return draft
  }
}

/** An item's answer as one of the results. */
const resultOf = ({ body, contentType, status }: Idempotency.Answer, isReplay = false): string =>
  contentType === Problem.contentType
    ? `{"status":${status},"problem":${body}}`
    : `{"status":${status},${isReplay ? `"replayed":true,` : ""}"link":${body}}`

/** Creates the links of a bulk's body. Each item is answered independently of the others. */
export const make = Effect.fnUntraced(function* ({ carryOut, createdText }: Creation) {
  const links = yield* Links

  /**
   * Each item is a create of its own, also for repeats, whose key is the bulk's with its place. Items that need a minted key and nothing else are bound together, at a fraction of the cost; the
   * others are carried out one by one.
   */
  return Effect.fnUntraced(function* (json: unknown, creator: CountedCreator) {
    const { idempotencyKey: key, owner } = creator
    const items = yield* itemsOf(json)
    const quota = creator.quota()
    const planOf = planner(owner, yield* Clock.currentTimeMillis)
    const results: Array<string> = items.map(() => "")
    const drafts: Array<LinkDraft> = []
    /** Where the drafts are among the items. */
    const places: Array<number> = []
    const others: Array<readonly [index: number, plan: CreatePlan]> = []
    for (const [index, item] of items.entries()) {
      if (isBreak(index)) yield* Effect.yieldNow()
      const itsCreator = key === undefined ? creator : { ...creator, idempotencyKey: `${key}\n${index}` }
      const plan = planOf(item, index, itsCreator)
      if (!("link" in plan)) {
        const known = creator.quotaNow()
        const standing = known === undefined ? yield* quota : known
        if (standing?.isAllowed === false) {
          results[index] = resultOf(problemAnswer(RateLimit.problemOf(standing)))
        } else {
          drafts.push(plan)
          places.push(index)
        }
      } else if (plan.repeats === null && Either.isLeft(plan.link)) {
        results[index] = resultOf(problemAnswer(plan.link.left))
      } else others.push([index, plan])
    }
    const made = yield* links.createMany(drafts)
    for (const [place, link] of made.entries()) {
      if (isBreak(place)) yield* Effect.yieldNow()
      results[places[place]!] = Either.isRight(link)
        ? `{"status":201,"link":${createdText(link.right)}}`
        : resultOf(problemAnswer(yield* Effect.flip(Problem.orUnavailable(Effect.fail(link.left)))))
    }
    yield* Concurrent.forEach(
      others,
      ([index, plan]) =>
        carryOut(plan, quota).pipe(
          Effect.map(({ answered: { answer, isReplay } }) => resultOf(answer, isReplay)),
          Effect.catchAll((problem) => Effect.succeed(resultOf(problemAnswer(problem)))),
          Effect.map((result) => (results[index] = result))
        ),
      othersAtOnce
    )
    // All at once: a text that is put together from long ones is copied when it is sent.
    results[0] = `{"results":[${results[0]}`
    results[results.length - 1] += "]}"
    return ofJson(results.join(","))
  })
})
