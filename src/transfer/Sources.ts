// What other services call the fields of a link. Their columns are told by name, whatever the order, case and punctuation.

import { bared } from "./Csv.ts"
import { type Fields, splitTags } from "./Fields.ts"
import { rulesOf } from "./ShlinkRules.ts"

/** Whose files can be read; `csv` is any table with a column of URLs. */
export const sourceNames = ["linkmint", "kutt", "yourls", "shlink", "bitly", "dub", "csv"] as const
/** See {@link sourceNames}. */
export type SourceName = (typeof sourceNames)[number]

/** The values of a record by the plain names of its columns. */
export type Named = ReadonlyMap<string, unknown>

/** A column's name without what services differ in: `Long URL` and `long_url` are `longurl`. */
export const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "")

interface Source {
  /** As it calls itself. */
  readonly title: string
  /** Columns that tell its files from others': one of these lists is in it. */
  readonly tells: ReadonlyArray<ReadonlyArray<string>>
  /** Where each field is, by plain names: the first that has a value. */
  readonly fields: Readonly<Record<string, ReadonlyArray<string>>>
  /** Columns of `key` that have a short URL, of which the key is the last part; or all behind the host, where keys have several segments. */
  readonly short?: ReadonlyArray<string>
  readonly hasLongKeys?: boolean
  /** Whether cells may be guarded against spreadsheets, and tags escaped. */
  readonly isOwn?: boolean
  /** What follows from several columns. */
  readonly derived?: (fields: Record<string, unknown>, named: Named) => void
}

const own = (names: ReadonlyArray<string>) => Object.fromEntries(names.map((name) => [name, [plain(name)]]))

const sum = (named: Named, names: ReadonlyArray<string>): number | undefined => {
  const counts = names.map((name) => named.get(name)).filter((count) => typeof count === "number")
  return counts.length === 0 ? undefined : counts.reduce((one, other) => one + other, 0)
}

const sources: Readonly<Record<SourceName, Source>> = {
  linkmint: {
    title: "Linkmint",
    tells: [["key", "shorturl", "haspassword"]],
    fields: own([
      "key",
      "url",
      "title",
      "tags",
      "createdAt",
      "updatedAt",
      "validSince",
      "expiresAt",
      "maxVisits",
      "visitsLeft",
      "redirectStatus",
      "forwardQuery",
      "crawlable",
      "hasPassword",
      "password",
      "visits",
      "bots",
      "domain",
      "expiredUrl",
      "forwardPath",
      "queryPrecedence",
      "cardTitle",
      "cardDescription",
      "cardImage",
      "rules",
      "variants",
      "note",
      "archived",
      "publicStats"
    ]),
    isOwn: true,
    // The API's own lists have visits as objects.
    derived: (fields, named) => {
      const visits = sum(named, ["visitstotal", "importedvisitstotal"])
      if (visits === undefined) return
      fields["visits"] = visits
      fields["bots"] = sum(named, ["visitsbots", "importedvisitsbots"])
    }
  },
  yourls: {
    title: "YOURLS",
    tells: [["keyword", "url"]],
    fields: {
      key: ["keyword"],
      url: ["url"],
      title: ["title"],
      createdAt: ["timestamp"],
      visits: ["clicks"]
    }
  },
  kutt: {
    title: "Kutt",
    tells: [
      ["address", "target"],
      ["target", "link"]
    ],
    fields: {
      key: ["address", "link"],
      url: ["target"],
      title: ["description"],
      createdAt: ["createdat"],
      updatedAt: ["updatedat"],
      expiresAt: ["expirein"],
      visits: ["visitcount"],
      banned: ["banned"]
    },
    short: ["link"],
    // A hash in dumps, yes or no in what the API answers.
    derived: (fields, named) => {
      const password = named.get("password")
      fields["hasPassword"] =
        password !== undefined && !["", "false", "f", "0", false, null].includes(password as string)
    }
  },
  shlink: {
    title: "Shlink",
    tells: [
      ["shortcode", "longurl"],
      ["shorturl", "longurl"]
    ],
    fields: {
      key: ["shortcode", "shorturl"],
      url: ["longurl"],
      title: ["title"],
      tags: ["tags"],
      createdAt: ["createdat", "datecreated"],
      validSince: ["metavalidsince", "validsince"],
      expiresAt: ["metavaliduntil", "validuntil"],
      maxVisits: ["metamaxvisits", "maxvisits"],
      crawlable: ["crawlable"],
      forwardQuery: ["forwardquery"],
      visits: ["visitssummarytotal", "visits", "visitscount"],
      bots: ["visitssummarybots"]
    },
    short: ["shorturl"],
    hasLongKeys: true,
    derived: (fields, named) => {
      const rules = rulesOf(named.get("redirectrules") ?? named.get("redirectrulesredirectrules"))
      if (typeof rules === "string") fields["rulesFault"] = rules
      else if (rules.length > 0) fields["rules"] = rules
      // There a link ends with its visits, whenever its limit was set.
      const [max, visits] = [Number(fields["maxVisits"]), Number(fields["visits"] ?? 0)]
      if (max > 0 && visits >= 0) fields["visitsLeft"] = Math.max(0, max - visits)
    }
  },
  dub: {
    title: "Dub",
    tells: [
      ["shortlink", "destinationurl"],
      ["shortlink", "url"],
      ["key", "domain", "url"]
    ],
    fields: {
      key: ["key", "shortlink", "link"],
      url: ["url", "destinationurl"],
      title: ["title"],
      tags: ["tags", "tagnames"],
      createdAt: ["createdat"],
      updatedAt: ["updatedat"],
      expiresAt: ["expiresat"],
      visits: ["clicks"],
      archived: ["archived"]
    },
    short: ["shortlink", "link"],
    hasLongKeys: true,
    derived: (fields, named) => {
      const password = named.get("password")
      fields["hasPassword"] = password !== undefined && password !== null && password !== ""
    }
  },
  bitly: {
    title: "Bitly",
    tells: [
      ["longurl", "link"],
      ["destinationurl", "link"],
      ["longurl", "bitlink"],
      ["longurl", "bitlylink"],
      ["destinationurl", "bitlylink"]
    ],
    fields: {
      key: [
        "custombitlinks",
        "custombitlink",
        "customlink",
        "custombackhalf",
        "link",
        "bitlink",
        "bitlylink",
        "shorturl"
      ],
      url: ["longurl", "destinationurl"],
      title: ["title"],
      tags: ["tags"],
      createdAt: ["createdat", "datecreated", "created"],
      visits: ["clicks", "totalclicks", "engagements", "totalengagements"]
    },
    short: [
      "custombitlinks",
      "custombitlink",
      "customlink",
      "custombackhalf",
      "link",
      "bitlink",
      "bitlylink",
      "shorturl"
    ]
  },
  csv: {
    title: "CSV",
    tells: [],
    fields: {
      key: ["alias", "keyword", "slug", "shortcode", "key", "backhalf", "shorturl", "link"],
      url: ["url", "longurl", "target", "destination", "destinationurl", "originalurl", "long"],
      title: ["title", "description", "name"],
      tags: ["tags"],
      createdAt: ["createdat", "created", "datecreated", "timestamp"],
      updatedAt: ["updatedat"],
      validSince: ["validsince"],
      expiresAt: ["expiresat", "expirein", "expirationdate", "validuntil"],
      maxVisits: ["maxvisits"],
      redirectStatus: ["redirectstatus"],
      forwardQuery: ["forwardquery"],
      crawlable: ["crawlable"],
      password: ["password"],
      visits: ["visits", "clicks", "visitcount"]
    },
    short: ["shorturl", "link"]
  }
}

/** The name by which a service is known to people. */
export const titleOf = (source: SourceName): string => sources[source].title

/** Whose file has these columns; `csv` where nobody else's has. `undefined`: it has no column of URLs. */
export const sourceOf = (names: ReadonlySet<string>): SourceName | undefined =>
  sourceNames.find((source) =>
    sources[source].tells.some((tells) => tells.every((name) => names.has(name)))
  ) ?? (sources.csv.fields["url"]!.some((name) => names.has(name)) ? "csv" : undefined)

/** The names of the columns of which a file of a source must have one, if it has none of them. */
export const missingIn = (source: SourceName, names: ReadonlySet<string>): ReadonlyArray<string> => {
  const urls = sources[source].fields["url"]!
  return urls.some((name) => names.has(name)) ? [] : urls
}

/** What stands behind the last slash of a short URL, or behind its host. */
const lastPart = (short: string, isLong: boolean): string =>
  short
    .trim()
    .replace(/[?#].*$/, "")
    .replace(/\/+$/, "")
    .replace(isLong ? /^(?:[a-z]+:\/\/)?[^/]*\//i : /^.*\//, "")

/** Tags in one cell, in whatever way they are separated there, or as a JSON list. */
const tagsIn = (cell: string): ReadonlyArray<string> => {
  if (cell.startsWith("[")) {
    try {
      const list = JSON.parse(cell) as ReadonlyArray<unknown>
      return list.map(String)
    } catch {
      // Then it is no JSON.
    }
  }
  return cell
    .split(/[|,;]/)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== "")
}

const nameOf = (tag: unknown): unknown =>
  typeof tag === "object" && tag !== null && "name" in tag ? tag.name : tag

const isThere = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && value.length === 0)

/** The fields of a record. */
export const fieldsOf = (named: Named, name: SourceName): Fields => {
  const source = sources[name]
  const fields: Record<string, unknown> = {}
  for (const [field, columns] of Object.entries(source.fields)) {
    const column = columns.find((column) => isThere(named.get(column)))
    if (column === undefined) continue
    let value = named.get(column)
    if (field === "tags") {
      if (Array.isArray(value)) value = value.map(nameOf)
      else if (typeof value === "string") value = source.isOwn ? splitTags(value) : tagsIn(value)
    } else if (field === "key") {
      if (Array.isArray(value)) value = value[0] as unknown
      if (source.short?.includes(column) && typeof value === "string")
        value = lastPart(value, source.hasLongKeys === true)
    }
    fields[field] = value
  }
  source.derived?.(fields, named)
  return fields
}

/** The values of a CSV record. */
export const namedCells = (
  names: ReadonlyArray<string>,
  cells: ReadonlyArray<string | null>,
  source: SourceName
): Named => {
  const isOwn = sources[source].isOwn === true
  return new Map(names.map((name, place) => [name, isOwn ? bared(cells[place] ?? "") : (cells[place] ?? "")]))
}

/** The values of a JSON object: those of an object in it by both names, `meta.maxVisits` as `metamaxvisits`. */
export const namedJson = (json: Readonly<Record<string, unknown>>): Named => {
  const named = new Map<string, unknown>()
  for (const [name, value] of Object.entries(json)) {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      for (const [inner, innerValue] of Object.entries(value)) named.set(plain(name + inner), innerValue)
    } else named.set(plain(name), value)
  }
  return named
}
