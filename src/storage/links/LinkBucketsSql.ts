/**
 * `bucketOf` of a row of `links` as an expression of PostgreSQL. It has only functions that come with the server and are immutable, as the row filter of a
 * publication asks for, and only a column of the primary key.
 */
export const bucketOfRow = (domain: number): string =>
  `get_byte(sha256(decode('${domain}/' || lower(key COLLATE "C"), 'escape')), 0)`
