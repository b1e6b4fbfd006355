// What an alias may be. The web page and imports have the same, so nothing is imported here.

/** Characters of an alias at most, with the slashes between its segments. */
export const aliasMax = 64

/** Segments of an alias at most. */
export const segmentsMax = 5

const characters = "[A-Za-z0-9_-]+"

const segment = new RegExp(`^${characters}$`)

/** Up to {@link segmentsMax} segments with a slash between them. */
export const aliasPattern: RegExp = new RegExp(`^${characters}(?:/${characters}){0,${segmentsMax - 1}}$`)

/** Whether a text can be a minted key, or an alias of one segment. */
export const isSegment = (text: string): boolean => text.length <= aliasMax && segment.test(text)

/** Whether a text can be a key or an alias; see {@link aliasPattern}. */
export const isAlias = (text: string): boolean => text.length <= aliasMax && aliasPattern.test(text)

/** The segments of an alias. */
export const segmentsOf = (alias: string): ReadonlyArray<string> => alias.split("/")

/** Whether an alias has several segments. */
export const isLong = (alias: string): boolean => alias.includes("/")
