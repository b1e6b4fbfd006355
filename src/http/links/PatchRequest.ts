import { Either, Option, Struct } from "effect"
import { type Link, type LinkChange, unlessChosen } from "../../model/Link.ts"
import * as Decode from "../exchange/Decode.ts"
import * as ExtraChoices from "./ExtraChoices.ts"
import { checkEnd, checkMoment, checkOrder, checkUrl, distinct, type LinkPolicy } from "./LinkChecks.ts"
import { ChangeBody, settingNames } from "../contract/LinkSchemas.ts"
import { oneFault, type Problem } from "../exchange/Problem.ts"

/** What is to be changed of a link: its password is not hashed yet. */
export interface Patch {
  readonly change: Omit<LinkChange, "passwordHash">
  /** `null` clears it, `undefined` leaves it as it is. */
  readonly password: string | null | undefined
}

const decodeBody = Decode.body(ChangeBody)

/** What a setting becomes that is cleared. */
const { passwordHash: _, ...clear } = unlessChosen

/** The settings that a body clears, and the rest of it. */
const split = (json: unknown) => {
  if (!Decode.isObject(json)) return { cleared: new Set<string>(), said: json }
  const cleared = new Set<string>(settingNames.filter((name) => json[name] === null))
  return { cleared, said: Object.fromEntries(Object.entries(json).filter(([name]) => !cleared.has(name))) }
}

/**
 * Checks the body of a patch of a link at `now` (milliseconds since the Unix epoch): gives what to change, or the problem to answer.
 * `null` clears a setting: the link is then like one that was created without it, and without a default end.
 */
export const check = (
  json: unknown,
  link: Link,
  policy: LinkPolicy,
  now: number
): Either.Either<Patch, Problem> =>
  Either.gen(function* () {
    const { cleared, said } = split(json)
    const body = yield* decodeBody(said)
    const mentions = (name: keyof typeof body) => name in body || cleared.has(name)
    if (mentions("expiresAt") && mentions("expiresIn")) {
      return yield* oneFault("invalid-request", "expiresIn", "cannot stand beside expiresAt")
    }
    const { expiresAt: _, expiresIn: __, password, tags, url, validSince, ...more } = body
    const others = Struct.omit(more, ...ExtraChoices.names)
    const extras = yield* ExtraChoices.changedBy(body, cleared, link, policy)
    const changed: Omit<LinkChange, "passwordHash"> = {
      ...Struct.pick(clear, ...Struct.keys(clear).filter((name) => cleared.has(name))),
      ...(cleared.has("expiresIn") && { expiresAt: null }),
      ...others,
      ...(tags !== undefined && { tags: distinct(tags) }),
      ...(url !== undefined && { url: yield* checkUrl(url, policy) }),
      ...(extras !== undefined && { extras }),
      ...(validSince !== undefined && { validSince: yield* checkMoment("validSince", validSince) })
    }
    const end = yield* checkEnd(body, now, Option.none())
    const change = end === undefined ? changed : { ...changed, expiresAt: end }
    if (mentions("validSince") || mentions("expiresAt") || mentions("expiresIn")) {
      const { expiresAt, validSince } = { ...link, ...change }
      yield* checkOrder(mentions("validSince") ? "validSince" : "expiresAt", validSince, expiresAt)
    }
    return { change, password: cleared.has("password") ? null : password }
  })
