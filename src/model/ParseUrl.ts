/**
 * A URL, or `undefined` where a text is none. Not by `URL.canParse`: Node 20 answers `false` for any text with a character from U+0080 to U+00FF as soon as the
 * call has been optimized, after some thousands of them.
 */
export const parseUrl = (text: string): URL | undefined => {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
