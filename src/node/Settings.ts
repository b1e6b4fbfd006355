import { Config, ConfigError, Duration, Either, LogLevel, Option, Redacted } from "effect"
import { type BrandSettings, own as ownBrand } from "../http/pages/Brand.ts"
import * as BrandColor from "../http/pages/BrandColor.ts"
import * as Iso8601 from "../model/Iso8601.ts"
import { type Network, parseAll as parseNetworks } from "../model/Network.ts"
import type { TracingOptions } from "../telemetry/Tracing.ts"
import { type StockKind, stockKinds } from "../storage/keys/KeyStock.ts"
import * as DatabaseUrl from "../storage/sql/postgres/DatabaseUrl.ts"
import * as RedisUrl from "../storage/redis/RedisUrl.ts"
import { type KeyOrder, keyOrders } from "../keys/KeyMinter.ts"
import { type PoolKind, poolKinds } from "../storage/keys/KeyPool.ts"
import { type Alphabet, alphabets, lengthMax, lengthMin } from "../keys/KeySpace.ts"
import { parseUrl } from "../model/ParseUrl.ts"
import { shortestKept_days } from "../model/Visit.ts"

/** The operator's choices; `docs/settings.md` has each variable's meaning and default. */
export interface Settings {
  readonly host: string
  readonly port: number
  /** Where short URLs point: scheme, host and port, without a slash at the end. */
  readonly baseUrl: URL
  /** Whether requests for a host that is no domain's are answered as the default domain's, or by 404. */
  readonly unknownHosts: "default" | "not-found"
  readonly dataDir: string
  readonly databaseUrl: Option.Option<Redacted.Redacted>
  /** Standbys of the database, which redirects read while it is away. */
  readonly databaseReplicaUrls: Option.Option<Redacted.Redacted<ReadonlyArray<string>>>
  /** Further databases of links, in an order that counts: the first is number 1, beside `databaseUrl`, which is 0. */
  readonly linkDatabaseUrls: ReadonlyArray<Redacted.Redacted>
  /** Databases that have visits alone, in an order that counts; none: visits are with their links. */
  readonly visitDatabaseUrls: ReadonlyArray<Redacted.Redacted>
  /** Pool shards; with them, and a database to share, the process is one node of a cluster. */
  readonly redisUrls: Option.Option<ReadonlyArray<RedisUrl.RedisUrl>>
  /** Where the other nodes of the cluster reach this one. */
  readonly runnerHost: string
  readonly runnerPort: number
  /** `http`: a node that serves requests and owns no actors. */
  readonly nodeRole: "all" | "http"
  /** The number of nodes that this start runs, each in its own process. They share the HTTP port, and have runner ports from `runnerPort` on. */
  readonly processes: number
  /** How long a node that shuts down still serves while it reports that it is not ready. */
  readonly drainDelay: Duration.Duration
  /** How long cached links are still redirected when the database is away. */
  readonly staleRedirects: Duration.Duration
  /** 16 bytes; none: drawn at the first start. */
  readonly keySecret: Option.Option<Redacted.Redacted<Uint8Array>>
  /** The key of keyed hashes; none: drawn at the first start. */
  readonly hashSecret: Option.Option<Redacted.Redacted>
  readonly keyAlphabet: Alphabet
  readonly keyLength: number
  readonly keyOrder: KeyOrder
  /** The data structure of a pool shard in Redis. */
  readonly keyPool: PoolKind
  readonly keyStock: StockKind
  /** The number of keys to mint ahead and stock; 0 exactly if `keyStock` is `none`. */
  readonly keyStockTarget: number
  readonly poolLow: number
  readonly poolHigh: number
  readonly bufferCapacity: number
  /** The lifetime of links that are created without an expiry. */
  readonly defaultExpiry: Option.Option<Iso8601.Duration>
  /** How long the key of a link that has ended is not reused. */
  readonly recycleQuarantine: Duration.Duration
  /** How long entries of the audit log are kept. */
  readonly auditRetention: Duration.Duration
  /** How long visits are kept by the hour. */
  readonly visitHoursRetention: Duration.Duration
  /** How long visits are kept by the day: at least as long. */
  readonly visitDaysRetention: Duration.Duration
  /** The name of a query parameter whose requests are no visits. */
  readonly optOutParameter: Option.Option<string>
  /** Clients whose requests are no visits. */
  readonly optOutNetworks: ReadonlyArray<Network>
  /** Whether requests with `DNT: 1` or `Sec-GPC: 1` are no visits. */
  readonly optOutHeaders: boolean
  readonly adminApiKey: Option.Option<Redacted.Redacted>
  readonly anonymousCreates: boolean
  /** Whether anybody may create an account. */
  readonly signUp: boolean
  /** A session ends after this time without use. */
  readonly sessionIdle: Duration.Duration
  readonly createsPerMinute: number | null
  readonly redirectsPerDay: number | null
  readonly anonymousCreatesPerMinute: number | null
  readonly failedLookupsPerMinute: number | null
  /** The maximum of open connections, of all clients and of one; `null`: no limit for one. */
  readonly connectionsMax: number
  readonly connectionsPerClient: number | null
  /** Reverse proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: ReadonlyArray<Network>
  /** A file of domains that links must not lead to. */
  readonly blocklistFile: Option.Option<string>
  /** Whether links must not lead to private networks. */
  readonly blockPrivateTargets: boolean
  /** A database in MaxMind's format that maps visitors' addresses to countries. */
  readonly geoIpFile: Option.Option<string>
  /** The header in which a trusted proxy sends a visitor's country, in lower case. */
  readonly countryHeader: Option.Option<string>
  /** Whether webhooks may lead to private networks. */
  readonly allowPrivateWebhooks: boolean
  /** A port that serves only the metrics. With many processes each has the next higher one. */
  readonly metricsPort: Option.Option<number>
  /** A bearer token that grants access to the metrics. */
  readonly metricsToken: Option.Option<Redacted.Redacted>
  /** The receiver of traces; none: nothing is traced. */
  readonly tracing: Option.Option<TracingOptions>
  /** Whose service the pages say this is. */
  readonly brand: BrandSettings
  /** A folder of files with the text of visitors' pages. */
  readonly messagesDir: Option.Option<string>
  readonly logFormat: "pretty" | "json"
  readonly logLevel: LogLevel.LogLevel
}

/** A setting that is not usable. */
const invalid = (name: string, fault: string, example: string) =>
  ConfigError.InvalidData([], `${name} ${fault}; for example ${name}=${example}`)

const all = new Map<string, string>()

/** Every setting, with an example. */
export const examples: ReadonlyMap<string, string> = all

/** A variable that is read as text and then parsed, or its default. An empty one counts as unset. */
const setting = <A>(
  name: string,
  options: {
    readonly example: string
    readonly orElse: A
    /** Returns the value, or the error as text. */
    readonly read: (text: string) => Either.Either<A, string>
  }
): Config.Config<A> => {
  all.set(name, options.example)
  return Config.string(name).pipe(
    Config.withDefault(""),
    Config.mapOrFail((text) =>
      text.trim() === ""
        ? Either.right(options.orElse)
        : Either.mapLeft(options.read(text.trim()), (fault) => invalid(name, fault, options.example))
    )
  )
}

const readInteger =
  (min: number, max: number) =>
  (text: string): Either.Either<number, string> => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max
      ? Either.right(value)
      : Either.left(`must be a whole number from ${min} to ${max}, not "${text}"`)
  }

const integer = (name: string, min: number, max: number, orElse: number) =>
  setting(name, { example: String(orElse), orElse, read: readInteger(min, max) })

/** A rate limit; `none`: unlimited. */
const limit = (name: string, orElse: number | null) => {
  const max = 1_000_000_000_000
  return setting<number | null>(name, {
    example: "1000",
    orElse,
    read: (text) => {
      if (text === "none") return Either.right(null)
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
      return value >= 1 && value <= max
        ? Either.right(value)
        : Either.left(`must be a whole number from 1 to ${max}, or none, not "${text}"`)
    }
  })
}

const choice = <A extends string>(name: string, choices: ReadonlyArray<A>, orElse: A) =>
  setting(name, {
    example: orElse,
    orElse,
    read: (text) => {
      const found = choices.find((choice) => choice === text)
      return found === undefined
        ? Either.left(`must be one of ${choices.join(", ")}, not "${text}"`)
        : Either.right(found)
    }
  })

const optional = <A>(name: string, example: string, read: (text: string) => Either.Either<A, string>) =>
  setting(name, {
    example,
    orElse: Option.none<A>(),
    read: (text) => Either.map(read(text), Option.some)
  })

const text = (name: string, orElse: string) =>
  setting(name, { example: orElse, orElse, read: (value) => Either.right(value) })

const baseUrl = optional("BASE_URL", "https://sho.rt", (value) => {
  const url = parseUrl(value)
  const usable =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.pathname === "/" &&
    `${url.search}${url.hash}${url.username}${url.password}` === ""
  return usable
    ? Either.right(url)
    : Either.left(`must be an http or https URL without path, query or credentials, not "${value}"`)
})

const databaseUrl = optional("DATABASE_URL", "postgres://user:password@localhost:5432/linkmint", (value) =>
  Either.map(DatabaseUrl.parse(value), () => Redacted.make(value))
)

/** A comma that separates two URLs, and not the hosts within one. */
const betweenUrls = /,(?=postgres(?:ql)?:)/

const databaseReplicaUrls = optional(
  "DATABASE_REPLICA_URLS",
  "postgres://user:password@replica:5432/linkmint",
  (value) =>
    Either.map(Either.all(value.split(betweenUrls).map(DatabaseUrl.parse)), (urls) =>
      Redacted.make(urls.flat())
    )
)

/** What databases of URLs are told apart by: their servers and their name. */
const placesOf = (urls: ReadonlyArray<string>) =>
  urls.map((url) => {
    const { hostname, pathname, port, searchParams, username } = new URL(url)
    const name = pathname.length > 1 ? pathname : `/${username}`
    return `${searchParams.get("host") ?? hostname}:${searchParams.get("port") ?? (port || "5432")}${name}`
  })

/** Further databases, comma-separated, in an order that counts. */
const furtherDatabaseUrls = (name: string, example: string, databasesMax: number) =>
  setting<ReadonlyArray<Redacted.Redacted>>(name, {
    example,
    orElse: [],
    read: (value) => {
      const urls = value.split(betweenUrls)
      if (urls.length > databasesMax) return Either.left(`must name ${databasesMax} databases at most`)
      return Either.flatMap(Either.all(urls.map(DatabaseUrl.parse)), (databases) => {
        const places = databases.map(placesOf)
        const second = places.findIndex((one, at) =>
          places.slice(0, at).some((other) => one.some((place) => other.includes(place)))
        )
        return second < 0
          ? Either.right(urls.map((url) => Redacted.make(url)))
          : Either.left(`must name each database once: number ${second + 1} is named before`)
      })
    }
  })

/** Each database has some buckets. */
const linkDatabaseUrls = furtherDatabaseUrls(
  "LINK_DATABASE_URLS",
  "postgres://user:password@links-1:5432/linkmint",
  63
)

/** The visits of each database's subjects are written in turns of their own. */
const visitDatabaseUrls = furtherDatabaseUrls(
  "VISIT_DATABASE_URLS",
  "postgres://user:password@visits-1:5432/linkmint",
  64
)

const redisUrls = optional("REDIS_URLS", "redis://localhost:6379,redis://localhost:6380", RedisUrl.parseAll)

/** A duration in ISO 8601. One of hours or less has the same length whenever it begins. */
const shortDuration = (name: string, example: string, max: Duration.Duration) =>
  optional(name, example, (value) => {
    const period = value === "PT0S" ? Duration.zero : undefined
    const parsed =
      period ??
      Option.getOrUndefined(
        Option.map(Option.fromNullable(Iso8601.parseDuration(value)), (found) =>
          Duration.millis(found.toMillis())
        )
      )
    return parsed !== undefined && Duration.lessThanOrEqualTo(parsed, max)
      ? Either.right(parsed)
      : Either.left(`must be an ISO 8601 duration up to ${Duration.format(max)}, not "${value}"`)
  })

const keySecret = optional("KEY_SECRET", "00112233445566778899aabbccddeeff", (value) =>
  /^[0-9a-fA-F]{32}$/.test(value)
    ? Either.right(Redacted.make(new Uint8Array(Buffer.from(value, "hex"))))
    : Either.left(`must be 32 hexadecimal digits, not ${value.length} characters of another kind`)
)

const secret = (name: string, example: string) =>
  optional(name, example, (value) =>
    /^[\x21-\x7e]{16,255}$/.test(value)
      ? Either.right(Redacted.make(value))
      : Either.left("must be 16 to 255 printable characters without spaces")
  )

/** A default expiry after the year 9999 would make every create fail that uses it. */
const defaultExpiryMax_years = 1_000

const defaultExpiry = optional("DEFAULT_EXPIRY", "P30D", (value) => {
  const duration = Iso8601.parseDuration(value)
  return duration !== undefined && duration.as("years") <= defaultExpiryMax_years
    ? Either.right(duration)
    : Either.left(`must be an ISO 8601 duration up to P${defaultExpiryMax_years}Y, not "${value}"`)
})

/** How long something is kept: an ISO 8601 duration from `min` to `max`. */
const keeping = (
  name: string,
  options: {
    readonly example: string
    readonly orElse: Duration.Duration
    readonly min: string
    readonly max?: string
  }
) => {
  const lengthOf = (text: string) => {
    const period = Iso8601.parseDuration(text)
    return period === undefined ? Duration.zero : Duration.millis(period.toMillis())
  }
  const { example, max = "P36500D", min, orElse } = options
  return setting(name, {
    example,
    orElse,
    read: (value) => {
      const duration = lengthOf(value)
      return Duration.between(duration, { minimum: lengthOf(min), maximum: lengthOf(max) })
        ? Either.right(duration)
        : Either.left(`must be an ISO 8601 duration from ${min} to ${max}, not "${value}"`)
    }
  })
}

/** Browsers and caches may still redirect by a link that has ended, and a message about it may still be under way. */
const recycleQuarantine = keeping("RECYCLE_QUARANTINE", {
  example: "P30D",
  orElse: Duration.days(30),
  min: "PT10S"
})

const auditRetention = keeping("AUDIT_RETENTION", {
  example: "P365D",
  orElse: Duration.days(365),
  min: "P1D"
})

/** The page shows a week by the hour. */
const visitHoursRetention = keeping("VISIT_HOURS_RETENTION", {
  example: "P35D",
  orElse: Duration.days(35),
  min: `P${shortestKept_days.hours}D`,
  max: "P366D"
})

/** The page shows a year by the day. */
const visitDaysRetention = keeping("VISIT_DAYS_RETENTION", {
  example: "P1100D",
  orElse: Duration.days(1_100),
  min: `P${shortestKept_days.days}D`,
  max: "P9000D"
})

const sessionIdle = keeping("SESSION_IDLE", {
  example: "PT24H",
  orElse: Duration.hours(24),
  min: "PT1M",
  max: "P14D"
})

const flag = (name: string, example: "true" | "false") =>
  optional(name, example, (value) =>
    value === "true" || value === "false"
      ? Either.right(value === "true")
      : Either.left(`must be true or false, not "${value}"`)
  )

const trustedProxies = setting<ReadonlyArray<Network>>("TRUSTED_PROXIES", {
  example: "10.0.0.0/8,::1",
  orElse: [],
  read: parseNetworks
})

const optOutParameter = optional("OPT_OUT_PARAMETER", "notrack", (value) =>
  /^[A-Za-z0-9_.-]{1,64}$/.test(value)
    ? Either.right(value)
    : Either.left(`must be 1 to 64 letters, digits, hyphens, dots and underscores, not "${value}"`)
)

const optOutNetworks = setting<ReadonlyArray<Network>>("OPT_OUT_NETWORKS", {
  example: "203.0.113.0/24,2001:db8::/32",
  orElse: [],
  read: parseNetworks
})

/** A field name of HTTP (RFC 9110, section 5.1). */
const countryHeader = optional("COUNTRY_HEADER", "CF-IPCountry", (value) =>
  /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/.test(value)
    ? Either.right(value.toLowerCase())
    : Either.left(`must be the name of a header, not "${value}"`)
)

/** The names are OpenTelemetry's (https://opentelemetry.io/docs/specs/otel/protocol/exporter). */
const otlpEndpoint = optional("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318", (value) => {
  const url = parseUrl(value)
  return url !== undefined && /^https?:$/.test(url.protocol)
    ? Either.right(url)
    : Either.left("must be an http or https URL")
})

const otlpHeaders = setting<TracingOptions["headers"]>("OTEL_EXPORTER_OTLP_HEADERS", {
  example: "authorization=Bearer%20secret",
  orElse: Redacted.make({}),
  read: (value) => {
    const pairs = value.split(",").map((pair) => /^ *([^\s=]+) *= *(.*?) *$/.exec(pair))
    try {
      return Either.right(
        Redacted.make(
          Object.fromEntries(pairs.map((pair) => [pair![1]!.toLowerCase(), decodeURIComponent(pair![2]!)]))
        )
      )
    } catch {
      return Either.left("must be of the form name=value,name=value, with percent-encoded values")
    }
  }
})

const traceRatio = setting("OTEL_TRACES_SAMPLER_ARG", {
  example: "0.01",
  orElse: 1,
  read: (value) => {
    const ratio = /^\d*\.?\d+$/.test(value) ? Number(value) : Number.NaN
    return ratio >= 0 && ratio <= 1
      ? Either.right(ratio)
      : Either.left(`must be a number from 0 to 1, not "${value}"`)
  }
})

/** A text that pages show, in one line. */
const line = (name: string, example: string, max: number) =>
  optional(name, example, (value) =>
    /^[^\p{Cc}\p{Cs}]+$/u.test(value) && Array.from(value).length <= max
      ? Either.right(value)
      : Either.left(`must be one line of at most ${max} characters`)
  )

/** Where a link at the end of visitors' pages leads. */
const webUrl = (name: string, example: string) =>
  optional(name, example, (value) => {
    const url = value.length > 2_048 ? undefined : parseUrl(value)
    return url !== undefined && /^https?:$/.test(url.protocol)
      ? Either.right(url.href)
      : Either.left(`must be an http or https URL of at most 2048 characters, not "${value.slice(0, 100)}"`)
  })

const logLevels = ["trace", "debug", "info", "warning", "error", "none"] as const

/** The maximum of stocked keys: filling the stock counts them each time. */
const keyStockTargetMax = 1_000_000

/** The maximum of processes on one machine. */
const processesMax = 64

const raw = Config.all({
  host: text("HOST", "127.0.0.1"),
  port: integer("PORT", 1, 65_535, 8080),
  baseUrl,
  unknownHosts: choice("UNKNOWN_HOSTS", ["default", "not-found"], "default"),
  dataDir: text("DATA_DIR", "./data"),
  databaseUrl,
  databaseReplicaUrls,
  linkDatabaseUrls,
  visitDatabaseUrls,
  redisUrls,
  runnerHost: text("RUNNER_HOST", "localhost"),
  runnerPort: integer("RUNNER_PORT", 1, 65_535, 34_431),
  nodeRole: choice("NODE_ROLE", ["all", "http"], "all"),
  processes: integer("PROCESSES", 1, processesMax, 1),
  staleRedirects: shortDuration("STALE_REDIRECTS", "PT1M", Duration.hours(1)),
  drainDelay: shortDuration("DRAIN_DELAY", "PT2S", Duration.minutes(1)),
  keySecret,
  hashSecret: secret("HASH_SECRET", "a-long-random-text"),
  keyAlphabet: choice("KEY_ALPHABET", alphabets, "base62"),
  keyLength: integer("KEY_LENGTH", lengthMin, lengthMax, 7),
  keyOrder: choice("KEY_ORDER", keyOrders, "permuted"),
  keyPool: choice("KEY_POOL", poolKinds, "list"),
  keyStock: choice("KEY_STOCK", stockKinds, "none"),
  keyStockTarget: integer("KEY_STOCK_TARGET", 0, keyStockTargetMax, 0),
  poolLow: integer("POOL_LOW", 1, 65_535, 2_000),
  poolHigh: integer("POOL_HIGH", 2, 65_536, 10_000),
  bufferCapacity: integer("BUFFER_CAPACITY", 1, 65_536, 2_048),
  defaultExpiry,
  recycleQuarantine,
  auditRetention,
  adminApiKey: secret("ADMIN_API_KEY", "lm_a-long-random-text"),
  signUp: Config.map(choice("SIGN_UP", ["open", "closed"], "closed"), (choice) => choice === "open"),
  sessionIdle,
  createsPerMinute: limit("CREATES_PER_MINUTE", null),
  redirectsPerDay: limit("REDIRECTS_PER_DAY", null),
  anonymousCreatesPerMinute: limit("ANONYMOUS_CREATES_PER_MINUTE", 60),
  failedLookupsPerMinute: limit("FAILED_LOOKUPS_PER_MINUTE", 120),
  connectionsMax: integer("CONNECTIONS_MAX", 1, 1_000_000, 10_000),
  connectionsPerClient: limit("CONNECTIONS_PER_CLIENT", 256),
  trustedProxies,
  anonymousCreates: flag("ANONYMOUS_CREATES", "true"),
  blocklistFile: optional("BLOCKLIST_FILE", "./blocklist.txt", Either.right),
  blockPrivateTargets: flag("BLOCK_PRIVATE_TARGETS", "true"),
  geoIpFile: optional("GEOIP_FILE", "./GeoLite2-Country.mmdb", Either.right),
  countryHeader,
  visitHoursRetention,
  visitDaysRetention,
  optOutParameter,
  optOutNetworks,
  optOutHeaders: flag("OPT_OUT_HEADERS", "true"),
  allowPrivateWebhooks: flag("ALLOW_PRIVATE_WEBHOOKS", "true"),
  metricsPort: optional("METRICS_PORT", "9464", readInteger(1, 65_535)),
  metricsToken: secret("METRICS_TOKEN", "a-long-random-text"),
  otlpEndpoint,
  otlpHeaders,
  traceRatio,
  brandName: line("BRAND_NAME", "Example Links", 60),
  brandLogoFile: optional("BRAND_LOGO_FILE", "./logo.svg", Either.right),
  brandColor: optional("BRAND_COLOR", "#0b5cad", BrandColor.parse),
  brandFooter: line("BRAND_FOOTER", "Example Ltd, London", 200),
  brandImprintUrl: webUrl("BRAND_IMPRINT_URL", "https://example.com/imprint"),
  brandPrivacyUrl: webUrl("BRAND_PRIVACY_URL", "https://example.com/privacy"),
  messagesDir: optional("MESSAGES_DIR", "./messages", Either.right),
  logFormat: choice("LOG_FORMAT", ["pretty", "json"], "pretty"),
  logLevel: choice("LOG_LEVEL", logLevels, "info")
})

const levelOf: Record<(typeof logLevels)[number], LogLevel.LogLevel> = {
  trace: LogLevel.Trace,
  debug: LogLevel.Debug,
  info: LogLevel.Info,
  warning: LogLevel.Warning,
  error: LogLevel.Error,
  none: LogLevel.None
}

/** The metrics' ports, one for each process, must differ from all other ports. */
const faultOfMetricsPort = ({
  metricsPort,
  port,
  processes,
  runnerPort
}: Config.Config.Success<typeof raw>) => {
  if (Option.isNone(metricsPort)) return undefined
  const first = metricsPort.value
  const last = first + processes - 1
  if (last > 65_535) {
    return invalid("METRICS_PORT", `is too high for ${processes} processes, each with one of its own`, "9464")
  }
  const overlaps = (from: number, to: number) => first <= to && from <= last
  return overlaps(port, port) || overlaps(runnerPort, runnerPort + processes - 1)
    ? invalid("METRICS_PORT", "must be another port than PORT and RUNNER_PORT, for each process", "9464")
    : undefined
}

/** A stock and its size are chosen together. */
const faultOfStock = ({
  databaseUrl,
  keyOrder,
  keyStock,
  keyStockTarget
}: Config.Config.Success<typeof raw>) => {
  if (keyStock === "none" && keyStockTarget > 0) {
    return invalid("KEY_STOCK", "must say how keys are stocked, beside KEY_STOCK_TARGET", "table")
  }
  if (keyStock !== "none" && keyStockTarget === 0) {
    return invalid("KEY_STOCK_TARGET", `must be at least 1 beside KEY_STOCK=${keyStock}`, "100000")
  }
  if (keyStock === "file" && keyOrder === "random") {
    return invalid(
      "KEY_STOCK",
      "cannot be file beside KEY_ORDER=random: a file does not notice a key that is drawn twice",
      "table"
    )
  }
  return keyStock === "file" && Option.isSome(databaseUrl)
    ? invalid(
        "KEY_STOCK",
        "can be file only without DATABASE_URL: of several nodes each would keep keys that the others cannot reach",
        "table"
      )
    : undefined
}

const isLoopback = (host: string) => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host)

/** Whether the settings allow only users of this machine to connect, as after the first `npm start`. */
const isForThisMachine = ({ baseUrl, databaseUrl, host }: Config.Config.Success<typeof raw>) =>
  Option.isNone(databaseUrl) &&
  isLoopback(host) &&
  Option.match(baseUrl, { onNone: () => true, onSome: ({ hostname }) => isLoopback(hostname) })

/** Errors in combinations of variables. */
const faultBetween = (values: Config.Config.Success<typeof raw>): ConfigError.ConfigError | undefined => {
  if (values.poolLow >= values.poolHigh) {
    return invalid("POOL_LOW", `must be below POOL_HIGH (${values.poolHigh})`, "2000")
  }
  const stockFault = faultOfStock(values)
  if (stockFault !== undefined) return stockFault
  if (Option.isSome(values.redisUrls) && Option.isNone(values.databaseUrl)) {
    const example = "postgres://user:password@localhost:5432/linkmint"
    return invalid(
      "DATABASE_URL",
      "is needed beside REDIS_URLS: the nodes of a cluster share a database",
      example
    )
  }
  if (values.nodeRole === "http" && Option.isNone(values.redisUrls)) {
    return invalid("NODE_ROLE", "can be http in a cluster only, with DATABASE_URL and REDIS_URLS", "all")
  }
  if (values.keyPool !== "list" && Option.isNone(values.redisUrls)) {
    return invalid("KEY_POOL", "can be set in a cluster only, with DATABASE_URL and REDIS_URLS", "list")
  }
  if (values.linkDatabaseUrls.length > 0 && Option.isNone(values.databaseUrl)) {
    return invalid(
      "DATABASE_URL",
      "is needed beside LINK_DATABASE_URLS: it is the first database of links, and has all else",
      "postgres://user:password@localhost:5432/linkmint"
    )
  }
  if (values.visitDatabaseUrls.length > 0 && Option.isNone(values.databaseUrl)) {
    return invalid(
      "DATABASE_URL",
      "is needed beside VISIT_DATABASE_URLS: it has all else",
      "postgres://user:password@localhost:5432/linkmint"
    )
  }
  if (values.processes > 1 && Option.isNone(values.redisUrls)) {
    return invalid(
      "PROCESSES",
      "can be more than 1 in a cluster only, with DATABASE_URL and REDIS_URLS: the processes share both",
      "1"
    )
  }
  const runnerPortMax = values.runnerPort + values.processes - 1
  if (values.processes > 1 && runnerPortMax > 65_535) {
    return invalid(
      "RUNNER_PORT",
      `is too high for ${values.processes} processes, each with one of its own`,
      "34431"
    )
  }
  if (values.processes > 1 && values.port >= values.runnerPort && values.port <= runnerPortMax) {
    return invalid(
      "PORT",
      `must not be one of the ${values.processes} runner ports from RUNNER_PORT on`,
      "8080"
    )
  }
  if (Option.isSome(values.redisUrls) && isLoopback(values.host) && !isLoopback(values.runnerHost)) {
    return invalid(
      "HOST",
      `must let the other nodes in, which reach this one at RUNNER_HOST=${values.runnerHost}: ${values.host} is for this machine alone`,
      "0.0.0.0"
    )
  }
  const metricsFault = faultOfMetricsPort(values)
  if (metricsFault !== undefined) return metricsFault
  if (Option.isSome(values.countryHeader) && values.trustedProxies.length === 0) {
    return invalid(
      "TRUSTED_PROXIES",
      "is needed beside COUNTRY_HEADER: only of a trusted proxy the header is believed",
      "10.0.0.0/8"
    )
  }
  return undefined
}

/** Reads and checks all settings. The error names each invalid variable, says what is wrong with it, and gives an example. */
export const settings: Config.Config<Settings> = raw.pipe(
  Config.mapOrFail((values) => {
    const fault = faultBetween(values)
    if (fault !== undefined) return Either.left(fault)
    const isCluster = Option.isSome(values.redisUrls)
    return Either.right({
      ...values,
      baseUrl: Option.getOrElse(values.baseUrl, () => new URL(`http://localhost:${values.port}`)),
      // If other machines can connect, links without owners should be a deliberate choice.
      anonymousCreates: Option.getOrElse(values.anonymousCreates, () => isForThisMachine(values)),
      blockPrivateTargets: Option.getOrElse(values.blockPrivateTargets, () => false),
      optOutHeaders: Option.getOrElse(values.optOutHeaders, () => false),
      allowPrivateWebhooks: Option.getOrElse(values.allowPrivateWebhooks, () => false),
      staleRedirects: Option.getOrElse(values.staleRedirects, () => Duration.minutes(1)),
      drainDelay: Option.getOrElse(values.drainDelay, () =>
        isCluster ? Duration.seconds(2) : Duration.zero
      ),
      tracing: Option.map(values.otlpEndpoint, (endpoint) => ({
        endpoint,
        headers: values.otlpHeaders,
        ratio: values.traceRatio
      })),
      brand: {
        name: Option.getOrElse(values.brandName, () => ownBrand.name),
        logoFile: Option.getOrUndefined(values.brandLogoFile),
        color: Option.getOrUndefined(values.brandColor),
        footer: Option.getOrUndefined(values.brandFooter),
        imprintUrl: Option.getOrUndefined(values.brandImprintUrl),
        privacyUrl: Option.getOrUndefined(values.brandPrivacyUrl)
      },
      logLevel: levelOf[values.logLevel]
    })
  })
)

/** The messages of a settings error, one for each variable. */
export const faultsOf = (error: ConfigError.ConfigError): ReadonlyArray<string> => {
  switch (error._op) {
    case "And":
    case "Or":
      return [...faultsOf(error.left), ...faultsOf(error.right)]
    default:
      return [error.message]
  }
}

/** Says to the operator why the program could not start. */
export const messageOf = (error: unknown): string => {
  if (ConfigError.isConfigError(error)) {
    return ["The settings are not usable:", ...faultsOf(error).map((fault) => `  ${fault}`)].join("\n")
  }
  return error instanceof Error ? error.message : String(error)
}
