const bucketOfText = (text: string): string =>
  `get_byte(sha256(decode('0/' || lower(split_part(${text}, '~', 1) COLLATE "C"), 'escape')), 0)`

/**
 * `bucketOf` of a row of `links` as an expression of PostgreSQL. It has only functions that come with the server and are immutable, as the row filter of a
 * publication asks for, and only a column of the primary key.
 */
export const bucketOfRow: string = bucketOfText("key")

/** The same of a row of `link_ranks`. */
export const bucketOfRankRow: string = bucketOfText("link_key")

/** The same of a row of `create_guards`: `bucketOfName`. */
export const bucketOfGuardRow: string = bucketOfText("split_part(name, '@', -1)")

/** The same of a row of `visit_periods`: `bucketOfSubject`. */
export const bucketOfSubjectRow: string = bucketOfText("split_part(subject, '@', 1)")
