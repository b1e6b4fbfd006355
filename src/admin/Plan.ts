import { costs, sizes } from "./MeasuredCosts.ts"

/** What a deployment is to do. */
export interface Load {
  /** Links that are there already. */
  readonly links: number
  /** On average. */
  readonly linksPerSecond: number
  readonly redirectsPerSecond: number
  /** How much more a busy second has than the average one. */
  readonly peak: number
  readonly years: number
  /** The share of the links that gets four fifths of the redirects: more than 0, 1 at most. */
  readonly hot: number
  /** Characters of a target. */
  readonly targetLength: number
  /** What a database's machine has. */
  readonly databaseCores: number
  readonly databaseDisk_bytes: number
  readonly databaseMemory_bytes: number
}

/** One line of a plan. */
export interface Line {
  readonly name: string
  readonly value: number
  /** "" for a plain number. */
  readonly unit: "" | "bytes" | "cores" | "bit/s" | "/s" | "characters" | "share"
  /** How the value is found, by the names of the lines before and of the command's options. */
  readonly formula: string
}

const year_s = 365.25 * 86_400
const hour_s = 3_600
const day_s = 86_400
const month_s = year_s / 12

/** The share of the redirects that the hot links get. */
const ofHot = 0.8

/** How much of a core is used at the peak: with more, waits grow longer than work. */
const usedMax = 0.5

const radix = 62
const [shortestKey, longestKey] = [7, 12]

/** Different links of `links` that get a redirect in a time, of which `redirects` come at random. */
const different = (links: number, redirects: number): number => links * -Math.expm1(-redirects / links)

/** What a load needs. All lines are estimates from what was measured on one machine; see {@link costs}. */
export const plan = (load: Load): ReadonlyArray<Line> => {
  const lines: Array<Line> = []
  const line = (name: string, unit: Line["unit"], value: number, formula: string): number => {
    lines.push({ name, value, unit, formula })
    return value
  }
  const { hot, linksPerSecond, peak, redirectsPerSecond, targetLength, years } = load

  const links = line(
    "links",
    "",
    load.links + linksPerSecond * years * year_s,
    "--links + --links-per-second × --years × 31,557,600 s"
  )
  const enough = Math.ceil(Math.log(100 * Math.max(1, links)) / Math.log(radix))
  const keyLength = line(
    "key length",
    "characters",
    Math.min(longestKey, Math.max(shortestKey, enough)),
    "the least from 7 on with 62^length ≥ 100 × links"
  )
  line("guesses for a link", "", radix ** keyLength / Math.max(1, links), "62^(key length) ÷ links, or 1")
  const creates = line("creates at the peak", "/s", linksPerSecond * peak, "--links-per-second × --peak")
  const redirects = line(
    "redirects at the peak",
    "/s",
    redirectsPerSecond * peak,
    "--redirects-per-second × --peak"
  )
  const hotLinks = line("hot links", "", hot * links, "--hot × links; they get 0.8 of the redirects")
  const cached = sizes.cachedLinks
  const isAllHot = cached >= hotLinks
  const hits = line(
    "cache hits of a node",
    "share",
    isAllHot
      ? ofHot + (1 - ofHot) * Math.min(1, (cached - hotLinks) / Math.max(1, links - hotLinks))
      : (ofHot * cached) / hotLinks,
    isAllHot ? "0.8 + 0.2 × min(1, (100,000 − hot links) ÷ (links − hot links))" : "0.8 × 100,000 ÷ hot links"
  )
  const nodeCores = line(
    "processors of the nodes",
    "cores",
    (redirects * (hits * costs.cached_us + (1 - hits) * costs.read_us) + creates * costs.create_us) / 1e6,
    `(redirects × (hits × ${costs.cached_us} µs + (1 − hits) × ${costs.read_us} µs) + creates × ${costs.create_us} µs) at the peak`
  )
  const needed = Math.ceil(nodeCores / usedMax)
  const nodes = line(
    "nodes",
    "",
    Math.max(3, needed + 1),
    "processors of the nodes ÷ 0.5, and one to lose; 3 at least (one process does for a small load, where it may be away)"
  )
  line(
    "memory of a node",
    "bytes",
    sizes.node_bytes + Math.min(cached, links) * (costs.cachedLink_bytes + targetLength - sizes.target),
    "205 MB + min(100,000, links) × (883 bytes + --target-length)"
  )
  line(
    "pool shards",
    "",
    nodes > 3 ? 4 : 2,
    "2 for three nodes, 4 for more: one may be away, and each fills 500,000 keys a second"
  )
  line(
    "memory of a Redis",
    "bytes",
    sizes.shard_bytes,
    "10,000 keys (POOL_HIGH) with Redis' own, for each pool shard"
  )
  const coldLinks = Math.max(1, links - hotLinks)
  const visitedIn = (redirects: number) =>
    different(Math.max(1, hotLinks), ofHot * redirects) + different(coldLinks, (1 - ofHot) * redirects)
  const rowsIn = (seconds: number) => visitedIn(redirectsPerSecond * seconds)
  const { visitBatches } = sizes
  const visitsWritten = line(
    "visits written at the peak",
    "/s",
    nodes * visitBatches * visitedIn(redirects / nodes / visitBatches),
    `nodes × ${visitBatches} × links visited by a node in 1 ÷ ${visitBatches} s: it adds up the visits of a link and hour before it writes them`
  )
  const linkCores = line(
    "processors for links",
    "cores",
    (redirects * (1 - hits) * costs.readInDatabase_us + creates * costs.createInDatabase_us) / 1e6,
    `(redirects × (1 − hits) × ${costs.readInDatabase_us} µs + creates × ${costs.createInDatabase_us} µs) at the peak`
  )
  const visitCores = line(
    "processors for visits",
    "cores",
    (visitsWritten * costs.visitInDatabase_us) / 1e6,
    `visits written at the peak × ${costs.visitInDatabase_us} µs; the first of a link in an hour takes ${costs.newVisitInDatabase_us} µs`
  )
  const linkDisk = line(
    "disk for links",
    "bytes",
    links * (sizes.link_bytes + targetLength - sizes.target),
    "links × (290 bytes + --target-length)"
  )
  const rankDisk = line(
    "disk for ranks",
    "bytes",
    sizes.rank_bytes * rowsIn(years * year_s),
    `${sizes.rank_bytes.toLocaleString("en")} bytes × links visited in --years, where n redirects of m links at random visit m × (1 − e^(−n÷m)), for the hot links and for the others: a table beside the links`
  )
  const visitDisk = line(
    "disk for visits",
    "bytes",
    sizes.visits_bytes *
      (rowsIn(hour_s) * 24 * sizes.hours_days +
        rowsIn(day_s) * Math.min(sizes.days_days, years * 365.25) +
        rowsIn(month_s) * 12 * years),
    `${sizes.visits_bytes} bytes × (links visited in an hour × 24 × 35 + in a day × min(1,100, 365.25 × --years) + in a month × 12 × --years): months are kept as long as their link`
  )
  const memory = line(
    "memory for hot links",
    "bytes",
    hot * linkDisk,
    "--hot × disk for links: what PostgreSQL reads without its disk"
  )
  const databases = (cores: number, disk: number, memory: number) =>
    Math.max(
      1,
      Math.ceil(cores / usedMax / load.databaseCores),
      Math.ceil(disk / load.databaseDisk_bytes),
      Math.ceil(memory / load.databaseMemory_bytes)
    )
  line(
    "databases",
    "",
    databases(linkCores + visitCores, linkDisk + rankDisk + visitDisk, memory),
    "the most of: processors for links and visits ÷ 0.5 ÷ --database-cores; all disks ÷ --database-disk; memory for hot links ÷ --database-memory"
  )
  line(
    "or databases of links",
    "",
    databases(linkCores, linkDisk + rankDisk, memory),
    "the same without what visits need, where those have databases of their own (VISIT_DATABASE_URLS)"
  )
  line(
    "and databases of visits",
    "",
    databases(visitCores, visitDisk, 0),
    "the most of: processors for visits ÷ 0.5 ÷ --database-cores; disk for visits ÷ --database-disk"
  )
  line("connections to PostgreSQL", "", nodes * sizes.connectionsOfNode, "nodes × 25")
  line(
    "network of the nodes",
    "bit/s",
    8 *
      (redirects * (sizes.redirect_bytes + targetLength) + creates * (sizes.create_bytes + 2 * targetLength)),
    "8 × (redirects × (900 bytes + --target-length) + creates × (2,000 bytes + 2 × --target-length)) at the peak, both ways"
  )
  return lines
}

const prefixes = ["", "k", "M", "G", "T", "P"] as const

/** A number as people read it, with three digits. */
const shown = (value: number): string => {
  const rounded = Number(value.toPrecision(3))
  const power = Math.min(prefixes.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, rounded)) / 3)))
  return `${Number((rounded / 1_000 ** power).toPrecision(3))} ${prefixes[power]!}`.trim()
}

const valueOf = ({ unit, value }: Line): string => {
  if (unit === "share") return `${Number((100 * value).toPrecision(3))} %`
  const text = shown(value)
  if (unit === "") return text
  if (unit === "/s") return `${text}/s`
  // A prefix belongs to its unit.
  return /[a-z]$/i.test(text) ? `${text}${unit === "bytes" ? "B" : unit}` : `${text} ${unit}`
}

/** The plan as a table. */
export const text = (lines: ReadonlyArray<Line>): string => {
  const rows = lines.map((line) => [line.name, valueOf(line), line.formula] as const)
  const width = (at: 0 | 1) => Math.max(...rows.map((row) => row[at].length))
  return rows
    .map(([name, value, formula]) => `${name.padEnd(width(0))}  ${value.padStart(width(1))}  ${formula}`)
    .join("\n")
}
