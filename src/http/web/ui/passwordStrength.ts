/** How hard a password is to guess, as far as a page can tell: 0 where it is too short, else 1 to 4. */
export type Strength = 0 | 1 | 2 | 3 | 4

/** What each strength is called. */
export const strengths = ["tooShort", "weak", "fair", "good", "strong"] as const

const kinds = [
  { pattern: /\p{Ll}/u, size: 26 },
  { pattern: /\p{Lu}/u, size: 26 },
  { pattern: /\p{Nd}/u, size: 10 },
  { pattern: /[^\p{L}\p{Nd}]/u, size: 33 },
  { pattern: /\p{Lo}/u, size: 100 }
]

/** Characters that do not follow from those before: they repeat nothing within three places, and go on with no run such as `abc` or `321`. */
const surprising = (characters: ReadonlyArray<string>): number =>
  characters.filter((character, index) => {
    if (characters.slice(Math.max(0, index - 3), index).includes(character)) return false
    const [before, last] = [characters[index - 2], characters[index - 1]].map((text) => text?.codePointAt(0))
    const code = character.codePointAt(0)!
    const isRun =
      last !== undefined &&
      before !== undefined &&
      Math.abs(code - last) === 1 &&
      code - last === last - before
    return !isRun
  }).length

/** Bits from which on a password is stronger. */
const steps = [50, 70, 95]

/** Estimates the strength of a password that must have `lengthMin` characters. Whether it is a common one, the service tells. */
export const strengthOf = (password: string, lengthMin: number): Strength => {
  const characters = Array.from(password.toLowerCase())
  if (characters.length < lengthMin) return 0
  const size = kinds.reduce((sum, kind) => sum + (kind.pattern.test(password) ? kind.size : 0), 0)
  const bits = surprising(characters) * Math.log2(size)
  return (1 + steps.filter((step) => bits >= step).length) as Strength
}
