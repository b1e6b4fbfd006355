import { createHash } from "node:crypto"
import { Data, Effect, Redacted } from "effect"
import { passwordLengthMax } from "./Passwords.ts"

/** Characters (Unicode code points) of a new password at least. Those that were set before this rule still open their accounts. */
export const newPasswordLengthMin = 12

/** Letters and digits that must be left of a new password without what it says of its user and of this service. */
const ownLengthMin = 8

/** What is too short to say anything of its user is found in many passwords by chance. */
const wordLengthMin = 4

/** How long a text may be that makes a password by repetition alone. */
const unitLengthMax = 4

const brand = "linkmint"

/** A password that may not be set, and why: `message` goes on from "The password …". */
export class PasswordRefused extends Data.TaggedError("PasswordRefused")<{ readonly message: string }> {}

/** Whose password it is to be. */
export interface PasswordOwner {
  readonly email: string
  readonly firstName?: string | null
  readonly middleName?: string | null
  readonly lastName?: string | null
}

/** A password as it is hashed: the same characters in whatever way a keyboard or a system writes them (NFKC). Nothing is cut off. */
export const normalized = (password: Redacted.Redacted): Redacted.Redacted =>
  Redacted.make(Redacted.value(password).normalize("NFKC"))

/** Whether a text has `min` to `passwordLengthMax` characters, none of them half a one. */
export const hasLength = (text: string, min: number): boolean => {
  // No character takes more than two code units: longer texts are not gone through.
  if (text.length > 2 * passwordLengthMax || !text.isWellFormed()) return false
  const length = Array.from(text).length
  return length >= min && length <= passwordLengthMax
}

type IsCommon = (folded: string) => boolean

/** The list is read when the first password is set: a start does without. */
const loadList = Effect.cached(
  Effect.promise(async (): Promise<IsCommon> => {
    const { digestBytes, digests } = await import("./commonPasswordDigests.ts")
    return (folded) => {
      const wanted = createHash("sha256").update(folded).digest().subarray(0, digestBytes)
      let [low, high] = [0, digests.length / digestBytes - 1]
      while (low <= high) {
        const middle = (low + high) >> 1
        const order = wanted.compare(digests, middle * digestBytes, (middle + 1) * digestBytes)
        if (order === 0) return true
        if (order < 0) high = middle - 1
        else low = middle + 1
      }
      return false
    }
  })
)

/** What a password repeats, where it does nothing else. */
const unitOf = (text: string): string => {
  for (let length = 1; length <= text.length / 2; length++) {
    const unit = text.slice(0, length)
    if (text === unit.repeat(Math.ceil(text.length / length)).slice(0, text.length)) return unit
  }
  return text
}

/** A text without the digits and signs around it. */
const wordIn = (text: string): string => text.replace(/^\P{L}+|\P{L}+$/gu, "")

/** Common as it is, as a common one between digits and signs, or as one said several times. */
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

/** Whether little is left of a password when what anybody knows of its user is taken out. */
const tellsItsOwner = (folded: string, owner: PasswordOwner): boolean => {
  const rest = wordsOf(owner).reduce((text, word) => text.replaceAll(word, ""), folded)
  return rest !== folded && Array.from(rest.replace(/[^\p{L}\p{N}]/gu, "")).length < ownLengthMin
}

const refused = (message: string) => new PasswordRefused({ message })

/**
 * Refuses a new password that is too short or too long, that is tried first by whoever guesses, or that tells its user. What characters it has is its user's business. The time it
 * takes does not depend on the password in any way that matters: nobody else learns it.
 */
export const make = Effect.map(loadList, (list) =>
  Effect.fn("PasswordPolicy.check")(function* (password: Redacted.Redacted, owner: PasswordOwner) {
    const text = Redacted.value(normalized(password))
    // A row of spaces is no harder to guess than one.
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
