import { Either, Struct } from "effect"
import { changedExtras, type ExtrasChange, type Link, type LinkCard, LinkExtras } from "../../model/Link.ts"
import type { Routing } from "../../model/Rules.ts"
import type { CreateBody } from "../contract/LinkSchemas.ts"
import { oneFault, type Problem } from "../exchange/Problem.ts"
import { checkUrl, type LinkPolicy } from "./LinkChecks.ts"
import { checkRouting } from "./RoutingChecks.ts"

/** The fields of a body that become extras of a link. */
type Choices = Pick<typeof CreateBody.Type, keyof LinkExtras>

/** The names of these fields. */
export const names: ReadonlyArray<keyof LinkExtras> = Struct.keys(LinkExtras.fields)

const none = Either.right(undefined)

/** A card with the address of its image as that is stored. */
const checkCard = (card: LinkCard, policy: LinkPolicy): Either.Either<LinkCard, Problem> => {
  if (Struct.keys(card).length === 0) {
    return oneFault("invalid-request", "card", "must have a title, a description or an image")
  }
  return card.image === undefined
    ? Either.right(card)
    : Either.map(checkUrl(card.image, policy, "card.image"), (image) => ({ ...card, image }))
}

/** What the fields of a body change; `kept`: rules and variants that stay beside them. `undefined` where it has none of them. A field that says what holds without it removes its member. */
const check = (
  { archived, card, expiredUrl, forwardPath, note, publicStats, queryPrecedence, rules, variants }: Choices,
  policy: LinkPolicy,
  kept: Routing = {}
): Either.Either<ExtrasChange | undefined, Problem> =>
  expiredUrl === undefined &&
  forwardPath === undefined &&
  queryPrecedence === undefined &&
  card === undefined &&
  rules === undefined &&
  variants === undefined &&
  note === undefined &&
  archived === undefined &&
  publicStats === undefined
    ? none
    : Either.gen(function* () {
        return {
          ...(expiredUrl !== undefined && { expiredUrl: yield* checkUrl(expiredUrl, policy, "expiredUrl") }),
          ...(forwardPath !== undefined && { forwardPath: forwardPath || null }),
          ...(queryPrecedence !== undefined && {
            queryPrecedence: queryPrecedence === "append" ? null : queryPrecedence
          }),
          ...(card !== undefined && { card: yield* checkCard(card, policy) }),
          ...(note !== undefined && { note }),
          ...(archived !== undefined && { archived: archived || null }),
          ...(publicStats !== undefined && { publicStats: publicStats || null }),
          ...((rules !== undefined || variants !== undefined) &&
            (yield* checkRouting({ rules, variants }, policy, kept)))
        }
      })

/** The extras that a create chooses; `undefined` where it chooses none. No link that has some is reused. */
export const chosenBy = (
  body: Choices & Pick<typeof CreateBody.Type, "reuse">,
  policy: LinkPolicy
): Either.Either<LinkExtras | undefined, Problem> =>
  Either.flatMap(check(body, policy), (change) => {
    if (change === undefined) return none
    const extras = changedExtras(undefined, change)
    return extras !== undefined && body.reuse === true
      ? oneFault("invalid-request", "reuse", `cannot stand beside ${Struct.keys(extras)[0]}`)
      : Either.right(extras)
  })

const changedNames = (body: Choices, cleared: ReadonlySet<string>) =>
  names.filter((name) => body[name] !== undefined || cleared.has(name))

/** What a patch of a link changes of its extras; `cleared`: the fields that it clears. `undefined`: nothing. */
export const changedBy = (
  body: Choices,
  cleared: ReadonlySet<string>,
  { extras = {} }: Pick<Link, "extras">,
  policy: LinkPolicy
): Either.Either<ExtrasChange | undefined, Problem> =>
  Either.map(check(body, policy, Struct.omit(extras, ...changedNames(body, cleared))), (change) => {
    const removed = names.filter((name) => cleared.has(name))
    return removed.length === 0
      ? change
      : { ...change, ...Object.fromEntries(removed.map((name) => [name, null])) }
  })
