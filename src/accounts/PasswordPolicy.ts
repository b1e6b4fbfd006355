import { createHash } from "node:crypto"
import { Context, Data, Effect, Redacted } from "effect"
import { passwordLengthMax } from "./Passwords.ts"
import type { Message } from "../model/Messages.ts"

/** Characters (Unicode code points) of a new password at least. Those that were set before this rule still open their accounts. */
export const newPasswordLengthMin = 12

/** Letters and digits that a new password must have beside its user's names and address and the name of this service. */
const ownLengthMin = 8

/** Shorter parts of names and addresses are in many passwords by chance, and are not looked for. */
const wordLengthMin = 4

/** A password that only repeats a text of up to this length is refused. */
const unitLengthMax = 4

const brand = "linkmint"

/** A password that may not be set, and why: `message` goes on from "The password …". */
export class PasswordRefused extends Data.TaggedError("PasswordRefused")<{ readonly message: Message }> {}

/** Whose password it is to be. */
export interface PasswordOwner {
  readonly email: string
  readonly firstName?: string | null
  readonly middleName?: string | null
  readonly lastName?: string | null
}

/** A password in the form that is hashed: NFKC, so that it does not depend on the keyboard or the system. Nothing is cut off. */
export const normalized = (password: Redacted.Redacted): Redacted.Redacted =>
  Redacted.make(Redacted.value(password).normalize("NFKC"))

/** Whether a text has `min` to `passwordLengthMax` characters, and no unpaired surrogates. */
export const hasLength = (text: string, min: number): boolean => {
  // A character has at most two code units: longer texts need not be read.
  if (text.length > 2 * passwordLengthMax || !text.isWellFormed()) return false
  const length = Array.from(text).length
  return length >= min && length <= passwordLengthMax
}

type IsCommon = (folded: string) => boolean

/** Tells which passwords are common. The list is read when the first password is set, not at start. */
const loadList: Effect.Effect<Effect.Effect<IsCommon>> = Effect.cached(
  Effect.promise(async (): Promise<IsCommon> => {
    const { digestBytes, digests } = await import("./commonPasswordDigests.ts")
    const numberAt = (bytes: Buffer, index: number) => bytes.readUIntBE(index * digestBytes, digestBytes)
    const common = new Set(
      Array.from({ length: digests.length / digestBytes }, (_, index) => numberAt(digests, index))
    )
    return (folded) => common.has(numberAt(createHash("sha256").update(folded).digest(), 0))
  })
)

/** What gives the list of common passwords, for each policy once. */
export class CommonPasswords extends Context.Reference<CommonPasswords>()("linkmint/CommonPasswords", {
  defaultValue: () => loadList
}) {}

/** The text that a password consists of repetitions of; the password itself where it is no repetition. */
const unitOf = (text: string): string => {
  for (let length = 1; length <= text.length / 2; length++) {
    const unit = text.slice(0, length)
    if (text === unit.repeat(Math.ceil(text.length / length)).slice(0, text.length)) return unit
  }
  return text
}

/** A text without leading and trailing digits and signs. */
const wordIn = (text: string): string => text.replace(/^\P{L}+|\P{L}+$/gu, "")

/** Whether a password is common: as it is, without the digits and signs around it, or as a repetition of a common one. */
const isGuessed = (folded: string, isCommon: IsCommon): boolean => {
  const unit = unitOf(folded)
  return unit.length <= unitLengthMax || [folded, wordIn(folded), unit, wordIn(unit)].some(isCommon)
}

const wordsOf = ({ email, firstName, lastName, middleName }: PasswordOwner): ReadonlyArray<string> => {
  const said = [email, email.split("@")[0], ...email.split(/[@.]/), firstName, middleName, lastName, brand]
  return said
    .map((word) => (word ?? "").normalize("NFKC").toLowerCase())
    .filter((word) => word.length >= wordLengthMin)
    .toSorted((one, other) => other.length - one.length)
}

/** Whether little is left of a password without what anybody knows of its user. */
const tellsItsOwner = (folded: string, owner: PasswordOwner): boolean => {
  const rest = wordsOf(owner).reduce((text, word) => text.replaceAll(word, ""), folded)
  return rest !== folded && Array.from(rest.replace(/[^\p{L}\p{N}]/gu, "")).length < ownLengthMin
}

const refused = (message: Message) => new PasswordRefused({ message })

/**
 * Refuses a new password that is too short or too long, that is among the first guesses, or that consists of what is known of its user. Any characters are allowed. The time
 * that the check takes may depend on the password: only its user can measure it.
 */
export const make = Effect.map(Effect.flatten(CommonPasswords), (list) =>
  Effect.fn("PasswordPolicy.check")(function* (password: Redacted.Redacted, owner: PasswordOwner) {
    const text = Redacted.value(normalized(password))
    // Several spaces in a row count as one: they are no harder to guess.
    if (
      !hasLength(text, newPasswordLengthMin) ||
      !hasLength(text.replaceAll(/\s+/gu, " "), newPasswordLengthMin)
    ) {
      return yield* refused(`must have ${newPasswordLengthMin} to ${passwordLengthMax} characters`)
    }
    const folded = text.toLowerCase()
    if (isGuessed(folded, yield* list)) {
      return yield* refused("is among the passwords that are guessed first: please choose another one")
    }
    if (tellsItsOwner(folded, owner)) {
      return yield* refused("may not be made of the e-mail address, the name or this service's name")
    }
  })
)
