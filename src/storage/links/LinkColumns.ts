import {
  changedExtras,
  type Link,
  type LinkChange,
  LinkChoices,
  type LinkExtras,
  type RedirectStatus
} from "../../model/Link.ts"
import * as Secret from "../../secrets/Secret.ts"
import type { Cells } from "../sql/DirectSql.ts"
import type { Columns } from "../sql/SqlRows.ts"

/** How PostgreSQL types a column that is filled. */
type ColumnType = "text" | "bigint" | "smallint" | "boolean" | "jsonb"

/** A column of `links`, and the name that it has in JSON. */
export interface LinkColumn {
  readonly column: string
  readonly name: string
  readonly type: ColumnType
}

/** A column that is filled when a link is bound. A function each: one for all fields would take several times as long. */
interface FilledColumn extends LinkColumn {
  readonly valueOf: (link: Link) => string | number | boolean | null
}

/** A row of `links`. SQLite has BOOLEAN as 0 or 1 and JSON as text. */
export interface LinkRow {
  readonly key: string
  readonly owner: string | null
  readonly url: string
  readonly title: string | null
  readonly tags: ReadonlyArray<string> | string
  readonly custom: boolean | number
  readonly created_at: number
  readonly updated_at: number
  readonly valid_since: number | null
  readonly expires_at: number | null
  readonly deleted_at: number | null
  readonly max_visits: number | null
  readonly visits_left: number | null
  readonly password_hash: string | null
  readonly redirect_status: RedirectStatus
  readonly forward_query: boolean | number
  readonly crawlable: boolean | number
  readonly key_id: string | null
  readonly key_redirects_per_day: number | null
  /** `Link.importedVisits` in JSON. */
  readonly imported_visits: string | null
  /** `Link.extras` in JSON. */
  readonly extras: string | null
}

/** The columns that make a link. */
export const linkColumns: ReadonlyArray<FilledColumn & { readonly column: keyof LinkRow }> = [
  { column: "key", name: "key", type: "text", valueOf: ({ key }) => key },
  { column: "owner", name: "owner", type: "text", valueOf: ({ owner }) => owner },
  { column: "url", name: "url", type: "text", valueOf: ({ url }) => url },
  { column: "title", name: "title", type: "text", valueOf: ({ title }) => title },
  {
    column: "tags",
    name: "tags",
    type: "jsonb",
    valueOf: ({ tags }) => (tags.length === 0 ? "[]" : JSON.stringify(tags))
  },
  { column: "custom", name: "custom", type: "boolean", valueOf: ({ custom }) => custom },
  { column: "created_at", name: "createdAt", type: "bigint", valueOf: ({ createdAt }) => createdAt },
  { column: "updated_at", name: "updatedAt", type: "bigint", valueOf: ({ updatedAt }) => updatedAt },
  { column: "valid_since", name: "validSince", type: "bigint", valueOf: ({ validSince }) => validSince },
  { column: "expires_at", name: "expiresAt", type: "bigint", valueOf: ({ expiresAt }) => expiresAt },
  { column: "deleted_at", name: "deletedAt", type: "bigint", valueOf: ({ deletedAt }) => deletedAt },
  { column: "max_visits", name: "maxVisits", type: "bigint", valueOf: ({ maxVisits }) => maxVisits },
  { column: "visits_left", name: "visitsLeft", type: "bigint", valueOf: ({ visitsLeft }) => visitsLeft },
  {
    column: "password_hash",
    name: "passwordHash",
    type: "text",
    valueOf: ({ passwordHash }) => passwordHash
  },
  {
    column: "redirect_status",
    name: "redirectStatus",
    type: "smallint",
    valueOf: ({ redirectStatus }) => redirectStatus
  },
  {
    column: "forward_query",
    name: "forwardQuery",
    type: "boolean",
    valueOf: ({ forwardQuery }) => forwardQuery
  },
  { column: "crawlable", name: "crawlable", type: "boolean", valueOf: ({ crawlable }) => crawlable },
  { column: "key_id", name: "keyId", type: "text", valueOf: ({ keyId = null }) => keyId },
  {
    column: "key_redirects_per_day",
    name: "keyRedirectsPerDay",
    type: "bigint",
    valueOf: ({ keyRedirectsPerDay = null }) => keyRedirectsPerDay
  },
  {
    column: "imported_visits",
    name: "importedVisits",
    type: "text",
    valueOf: ({ importedVisits }) => (importedVisits === undefined ? null : JSON.stringify(importedVisits))
  },
  {
    column: "extras",
    name: "extras",
    type: "text",
    valueOf: ({ extras }) => (extras === undefined ? null : JSON.stringify(extras))
  }
]

/** The columns that are filled beside those when a link is bound, and `url_hash` (`LinksByUrlSql`). */
const addedColumns: ReadonlyArray<FilledColumn> = [
  { column: "create_id", name: "createId", type: "bigint", valueOf: ({ createId = null }) => createId },
  { column: "title_folded", name: "titleFolded", type: "text", valueOf: ({ title }) => foldedOf(title) }
]

const extrasOf = (json: string) => JSON.parse(json) as LinkExtras

const visitsOf = (json: string) => JSON.parse(json) as NonNullable<Link["importedVisits"]>

/** The link of a row. */
export const linkOf = (row: LinkRow): Link => ({
  key: row.key,
  owner: row.owner,
  url: row.url,
  title: row.title,
  tags: typeof row.tags === "string" ? (JSON.parse(row.tags) as ReadonlyArray<string>) : row.tags,
  custom: Boolean(row.custom),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  validSince: row.valid_since,
  expiresAt: row.expires_at,
  deletedAt: row.deleted_at,
  maxVisits: row.max_visits,
  visitsLeft: row.visits_left,
  passwordHash: row.password_hash,
  redirectStatus: row.redirect_status,
  forwardQuery: Boolean(row.forward_query),
  crawlable: Boolean(row.crawlable),
  ...(row.key_id !== null && { keyId: row.key_id }),
  ...(row.key_redirects_per_day !== null && { keyRedirectsPerDay: row.key_redirects_per_day }),
  ...(row.imported_visits !== null && { importedVisits: visitsOf(row.imported_visits) }),
  ...(row.extras !== null && { extras: extrasOf(row.extras) })
})

const numberOf = (cell: Cells[number]): number | null => (cell === null ? null : Number(cell))

const isTrue = (cell: Cells[number]): boolean => cell === "t" || cell === 1

const noTags: ReadonlyArray<string> = []

/** The link of a row's values, which are in the order of {@link linkColumns}. */
export const linkOfCells = (cells: Cells): Link => {
  const keyId = cells[17] as string | null
  const keyRedirectsPerDay = numberOf(cells[18]!)
  const importedVisits = cells[19] as string | null
  const extras = cells[20] as string | null
  const tags = cells[4] as string
  return {
    key: cells[0] as string,
    owner: cells[1] as string | null,
    url: cells[2] as string,
    title: cells[3] as string | null,
    tags: tags === "[]" ? noTags : (JSON.parse(tags) as ReadonlyArray<string>),
    custom: isTrue(cells[5]!),
    createdAt: Number(cells[6]),
    updatedAt: Number(cells[7]),
    validSince: numberOf(cells[8]!),
    expiresAt: numberOf(cells[9]!),
    deletedAt: numberOf(cells[10]!),
    maxVisits: numberOf(cells[11]!),
    visitsLeft: numberOf(cells[12]!),
    passwordHash: cells[13] as string | null,
    redirectStatus: Number(cells[14]) as RedirectStatus,
    forwardQuery: isTrue(cells[15]!),
    crawlable: isTrue(cells[16]!),
    ...(keyId !== null && { keyId }),
    ...(keyRedirectsPerDay !== null && { keyRedirectsPerDay }),
    ...(importedVisits !== null && { importedVisits: visitsOf(importedVisits) }),
    ...(extras !== null && { extras: extrasOf(extras) })
  }
}

/** Identifies an owner's URL: the SHA-256 of both, in hexadecimal digits. An anonymous creator has no links to find. */
export const urlDigest = (owner: string | null, url: string): string | null =>
  owner === null ? null : Secret.digest(`${owner}\n${url}`)

/** By what an owner's link of a URL is found: the first 64 bits of its digest, since the row says the rest. Only links of owners who look for them have it (`LinksByUrlSql`). */
export const urlHash = (owner: string | null, url: string): string | null =>
  urlDigest(owner, url)?.slice(0, 16) ?? null

/** How a title is compared in searches. */
export const fold = (text: string): string => text.toLowerCase()

const foldedOf = (title: string | null) => (title === null ? null : fold(title))

/** What an owner can change, and the columns that go with it. */
export const changeableColumns: ReadonlyArray<LinkColumn> = [
  ...linkColumns,
  ...addedColumns,
  { column: "url_hash", name: "urlHash", type: "text" } as const
].filter(({ name }) => name in LinkChoices.fields || name === "titleFolded" || name === "urlHash")

/**
 * A change of a link of `owner` as JSON that has all columns that it changes, but for `visits_left` and `extras`, which depend on the row: `extras` are the members to be
 * set, and `extrasOut` has all that are to be removed before, as `null`.
 */
export const changedJson = ({ extras, ...change }: LinkChange, owner: string | null) => ({
  ...change,
  ...(extras !== undefined && {
    extras: changedExtras(undefined, extras) ?? {},
    extrasOut: Object.fromEntries(Object.keys(extras).map((name) => [name, null]))
  }),
  ...(change.title !== undefined && { titleFolded: foldedOf(change.title) }),
  ...(change.url !== undefined && { urlHash: urlHash(owner, change.url) })
})

/** Whether a row of `links` meets a condition, JSON that is NULL where there is none. */
export const meetsOnPostgres = (condition: string): string =>
  `(${condition} IS NULL OR links.url = ${condition} ->> 'url'
    AND links.title IS NOT DISTINCT FROM ${condition} ->> 'title' AND links.tags = ${condition} -> 'tags'
    AND (links.extras::jsonb ->> 'archived' IS NOT NULL) = (${condition} ->> 'archived')::boolean)`

/** See {@link meetsOnPostgres}. Tags are compared as the JSON that they are stored as. */
export const meetsOnSqlite = (condition: string): string =>
  `(${condition} IS NULL OR links.url = ${condition} ->> 'url'
    AND links.title IS ${condition} ->> 'title' AND links.tags = ${condition} -> 'tags'
    AND (links.extras ->> 'archived' IS NOT NULL) = ${condition} ->> 'archived')`

const filledColumns = [...linkColumns, ...addedColumns]

/** The names of the columns of {@link insertedRows}. */
export const insertedColumns: ReadonlyArray<string> = filledColumns.map(({ column }) => column)

/** The rows of links to be bound, as `rowsOf` takes them: of a bulk few columns vary, and the others have no list. */
export const insertedRows = (links: ReadonlyArray<Link>): Columns =>
  Object.fromEntries(
    filledColumns.map(({ column, type, valueOf }) => {
      const first = valueOf(links[0]!)
      const isSame = column !== "key" && links.every((link) => valueOf(link) === first)
      return [column, [type, isSame ? first : links.map(valueOf)]]
    })
  )
