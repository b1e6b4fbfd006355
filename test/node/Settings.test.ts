import { ConfigProvider, Duration, Effect, Either, LogLevel, Option, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { own as ownBrand } from "../../src/http/pages/Brand.ts"
import { faultsOf, type Settings, settings } from "../../src/node/Settings.ts"

type Variables = Readonly<Record<string, string>>

const read = (variables: Variables) =>
  settings.pipe(
    Effect.withConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(variables)))),
    Effect.either,
    Effect.runSync
  )

const readOrThrow = (variables: Variables): Settings => Either.getOrThrow(read(variables))

const faults = (variables: Variables): ReadonlyArray<string> =>
  Either.match(read(variables), { onLeft: faultsOf, onRight: () => [] })

/** A setting as plain data: secrets shown, durations in ISO 8601. */
const plain = (value: unknown): unknown => {
  if (Option.isOption(value)) return Option.isSome(value) ? plain(value.value) : null
  if (Redacted.isRedacted(value)) return plain(Redacted.value(value))
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex")
  if (value instanceof URL) return value.href
  if (Array.isArray(value)) {
    return value.map((item) => (typeof item === "string" ? item : `${item[0]}/${item[1]}`))
  }
  if (Duration.isDuration(value)) return Duration.toMillis(value)
  if (typeof value !== "object" || value === null) return value
  if ("toISO" in value) return String(value)
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]))
}

interface Variable {
  readonly field: keyof Settings
  readonly unset: unknown
  /** What is set, and the setting that comes of it. */
  readonly good: Readonly<Record<string, unknown>>
  readonly bad: ReadonlyArray<string>
  /** What the message says of a bad value. */
  readonly fault: RegExp
}

const integer = (field: keyof Settings, unset: number, min: number, max: number): Variable => ({
  field,
  unset,
  good: { [min]: min, [max]: max, [`0${max - 1}`]: max - 1 },
  bad: [
    String(min - 1),
    String(max + 1),
    "1.5",
    "1e3",
    "0x10",
    "many",
    "10 000",
    "١",
    "99999999999999999999"
  ],
  fault: new RegExp(`must be a whole number from ${min} to ${max}, not "`)
})

const limit = (field: keyof Settings, unset: number | null): Variable => ({
  field,
  unset,
  good: { 1: 1, 1000000000000: 1_000_000_000_000, none: null },
  bad: ["0", "-1", "1.5", "1000000000001", "unlimited", "None"],
  fault: /must be a whole number from 1 to 1000000000000, or none, not "/
})

const variables: Readonly<Record<string, Variable>> = {
  HOST: {
    field: "host",
    unset: "127.0.0.1",
    good: { "127.0.0.1": "127.0.0.1", "::": "::" },
    bad: [],
    fault: /./
  },
  PORT: integer("port", 8_080, 1, 65_535),
  BASE_URL: {
    field: "baseUrl",
    unset: "http://localhost:8080/",
    good: {
      "https://sho.rt": "https://sho.rt/",
      "HTTPS://SHO.RT/": "https://sho.rt/",
      "http://localhost:3000": "http://localhost:3000/"
    },
    bad: [
      "sho.rt",
      "ftp://sho.rt",
      "https://",
      "https://sho.rt/a",
      "https://sho.rt/?q=a",
      "https://sho.rt/#a",
      "https://me@sho.rt",
      "https://:secret@sho.rt"
    ],
    fault: /must be an http or https URL without path, query or credentials/
  },
  DATA_DIR: {
    field: "dataDir",
    unset: "./data",
    good: { "/var/lib/linkmint": "/var/lib/linkmint" },
    bad: [],
    fault: /./
  },
  DATABASE_URL: {
    field: "databaseUrl",
    unset: null,
    good: {
      "postgres://me:secret@db:5432/links": "postgres://me:secret@db:5432/links",
      "postgresql://db/links": "postgresql://db/links"
    },
    bad: ["db:5432", "mysql://me:secret@db/links", "postgres//db", "links"],
    fault: /must be a postgres:\/\/ URL/
  },
  RUNNER_HOST: { field: "runnerHost", unset: "localhost", good: { "node-1": "node-1" }, bad: [], fault: /./ },
  RUNNER_PORT: integer("runnerPort", 34_431, 1, 65_535),
  NODE_ROLE: {
    field: "nodeRole",
    unset: "all",
    good: { all: "all" },
    bad: ["ALL", "none"],
    fault: /must be one of all, http, not "/
  },
  PROCESSES: { ...integer("processes", 1, 1, 64), good: { 1: 1 } },
  DRAIN_DELAY: {
    field: "drainDelay",
    unset: 0,
    good: { PT0S: 0, "PT0.5S": 500, PT5S: 5_000, PT1M: 60_000 },
    bad: ["5", "PT61S", "P1D", "-PT5S", "5s"],
    fault: /must be an ISO 8601 duration up to /
  },
  AUDIT_RETENTION: {
    field: "auditRetention",
    unset: 365 * 86_400_000,
    good: { P1D: 86_400_000, PT36H: 129_600_000, P36500D: 36_500 * 86_400_000 },
    bad: ["365", "PT23H", "P36501D", "-P1D"],
    fault: /must be an ISO 8601 duration from P1D to P36500D/
  },
  VISIT_HOURS_RETENTION: {
    field: "visitHoursRetention",
    unset: 35 * 86_400_000,
    good: { P8D: 8 * 86_400_000, P366D: 366 * 86_400_000 },
    bad: ["35", "P7D", "P367D"],
    fault: /must be an ISO 8601 duration from P8D to P366D/
  },
  VISIT_DAYS_RETENTION: {
    field: "visitDaysRetention",
    unset: 1_100 * 86_400_000,
    good: { P366D: 366 * 86_400_000, P9000D: 9_000 * 86_400_000 },
    bad: ["1100", "P365D", "P9001D"],
    fault: /must be an ISO 8601 duration from P366D to P9000D/
  },
  OPT_OUT_PARAMETER: {
    field: "optOutParameter",
    unset: null,
    good: { notrack: "notrack", "no-track_1.0": "no-track_1.0" },
    bad: ["no track", "a=b", "ü", "x".repeat(65)],
    fault: /must be 1 to 64 letters, digits, hyphens, dots and underscores, not "/
  },
  OPT_OUT_NETWORKS: {
    field: "optOutNetworks",
    unset: [],
    good: { "10.1.2.3/8, ::1": ["10.1.2.3/8", "::1/128"] },
    bad: ["10.0.0.0/33", "localhost"],
    fault: /must be IP addresses and networks such as 10\.0\.0\.0\/8, separated by commas, not "/
  },
  OPT_OUT_HEADERS: {
    field: "optOutHeaders",
    unset: false,
    good: { true: true, false: false },
    bad: ["yes", "1"],
    fault: /must be true or false, not "/
  },
  DATABASE_REPLICA_URLS: {
    field: "databaseReplicaUrls",
    unset: null,
    good: {
      "postgres://a/links": ["postgres://a/links"],
      "postgres://a/links,postgresql://b:1,c/links": [
        "postgres://a/links",
        "postgresql://b:1/links",
        "postgresql://c/links"
      ]
    },
    bad: ["a,b", "postgres://a,,b/links", "postgres://a/links,mysql://b/links"],
    fault: /must /
  },
  STALE_REDIRECTS: {
    field: "staleRedirects",
    unset: 60_000,
    good: { PT0S: 0, PT5M: 300_000, PT1H: 3_600_000 },
    bad: ["60", "PT61M", "P1D", "-PT5S"],
    fault: /must be an ISO 8601 duration up to /
  },
  SESSION_IDLE: {
    field: "sessionIdle",
    unset: 24 * 3_600_000,
    good: { PT1M: 60_000, P14D: 14 * 24 * 3_600_000 },
    bad: ["PT59S", "P15D", "PT0S", "24h"],
    fault: /must be an ISO 8601 duration from PT1M to P14D/
  },
  KEY_SECRET: {
    field: "keySecret",
    unset: null,
    good: {
      "00112233445566778899aabbccddeeff": "00112233445566778899aabbccddeeff",
      "00112233445566778899AABBCCDDEEFF": "00112233445566778899aabbccddeeff"
    },
    bad: ["fedc", "fe".repeat(15), "fe".repeat(17), "g".repeat(32)],
    fault: /must be 32 hexadecimal digits/
  },
  KEY_ALPHABET: {
    field: "keyAlphabet",
    unset: "base62",
    good: { base62: "base62", base64url: "base64url", base36: "base36" },
    bad: ["base64", "BASE62", "abc"],
    fault: /must be one of base62, base64url, base36, not "/
  },
  KEY_LENGTH: integer("keyLength", 7, 6, 12),
  KEY_ORDER: {
    field: "keyOrder",
    unset: "permuted",
    good: { permuted: "permuted", sequential: "sequential", random: "random" },
    bad: ["Random", "counter"],
    fault: /must be one of permuted, sequential, random, not "/
  },
  KEY_POOL: {
    field: "keyPool",
    unset: "list",
    good: { list: "list" },
    bad: ["stack", "SET"],
    fault: /must be one of list, set, not "/
  },
  KEY_STOCK: {
    field: "keyStock",
    unset: "none",
    good: { none: "none" },
    bad: ["tables", "FILE", "0"],
    fault: /must be one of none, table, status, two-table, file, not "/
  },
  KEY_STOCK_TARGET: { ...integer("keyStockTarget", 0, 0, 1_000_000), good: { 0: 0 } },
  POOL_LOW: { ...integer("poolLow", 2_000, 1, 65_535), good: { 1: 1, 9_999: 9_999 } },
  POOL_HIGH: { ...integer("poolHigh", 10_000, 2, 65_536), good: { 2001: 2_001, 65_536: 65_536 } },
  BUFFER_CAPACITY: integer("bufferCapacity", 2_048, 1, 65_536),
  DEFAULT_EXPIRY: {
    field: "defaultExpiry",
    unset: null,
    good: { P30D: "P30D", PT1H: "PT1H", P1000Y: "P1000Y" },
    bad: ["30", "30d", "P0D", "-P1D", "P1001Y", "P99999Y", "never"],
    fault: /must be an ISO 8601 duration up to P1000Y, not "/
  },
  ADMIN_API_KEY: {
    field: "adminApiKey",
    unset: null,
    good: { ["k".repeat(16)]: "k".repeat(16), ["~!".repeat(127)]: "~!".repeat(127) },
    bad: ["short", "k".repeat(15), "k".repeat(256), "key with spaces in it", "schlüssel-schlüssel"],
    fault: /must be 16 to 255 printable characters without spaces/
  },
  HASH_SECRET: {
    field: "hashSecret",
    unset: null,
    good: { ["k".repeat(16)]: "k".repeat(16) },
    bad: ["short", "key with spaces in it"],
    fault: /must be 16 to 255 printable characters without spaces/
  },
  METRICS_PORT: {
    field: "metricsPort",
    unset: null,
    good: { "9464": 9_464, "65535": 65_535 },
    bad: ["0", "65536", "many"],
    fault: /must be a whole number from 1 to 65535/
  },
  METRICS_TOKEN: {
    field: "metricsToken",
    unset: null,
    good: { ["k".repeat(16)]: "k".repeat(16) },
    bad: ["short", "key with spaces in it"],
    fault: /must be 16 to 255 printable characters without spaces/
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    field: "tracing",
    unset: null,
    good: { "http://localhost:4318": { endpoint: "http://localhost:4318/", headers: {}, ratio: 1 } },
    bad: ["localhost:4318", "ftp://localhost"],
    fault: /must be an http or https URL/
  },
  BLOCKLIST_FILE: {
    field: "blocklistFile",
    unset: null,
    good: { "/etc/linkmint/blocked": "/etc/linkmint/blocked" },
    bad: [],
    fault: /./
  },
  BLOCK_PRIVATE_TARGETS: {
    field: "blockPrivateTargets",
    unset: false,
    good: { true: true, false: false },
    bad: ["yes", "1", "TRUE"],
    fault: /must be true or false, not "/
  },
  ALLOW_PRIVATE_WEBHOOKS: {
    field: "allowPrivateWebhooks",
    unset: false,
    good: { true: true, false: false },
    bad: ["yes", "1", "TRUE"],
    fault: /must be true or false, not "/
  },
  ANONYMOUS_CREATES: {
    field: "anonymousCreates",
    unset: true,
    good: { true: true, false: false },
    bad: ["yes", "1", "TRUE"],
    fault: /must be true or false, not "/
  },
  GEOIP_FILE: {
    field: "geoIpFile",
    unset: null,
    good: { "/var/lib/countries.mmdb": "/var/lib/countries.mmdb" },
    bad: [],
    fault: /./
  },
  MESSAGES_DIR: {
    field: "messagesDir",
    unset: null,
    good: { "./messages": "./messages" },
    bad: [],
    fault: /./
  },
  BRAND_NAME: {
    field: "brand",
    unset: ownBrand,
    good: { "Möbel & Co": { ...ownBrand, name: "Möbel & Co" } },
    bad: ["two\nlines", "x".repeat(61)],
    fault: /must be one line of at most 60 characters/
  },
  BRAND_LOGO_FILE: {
    field: "brand",
    unset: ownBrand,
    good: { "./logo.svg": { ...ownBrand, logoFile: "./logo.svg" } },
    bad: [],
    fault: /./
  },
  BRAND_COLOR: {
    field: "brand",
    unset: ownBrand,
    good: {
      "#0b5cad,#7DB8F5": {
        ...ownBrand,
        color: {
          light: { accent: "#0b5cad", on: "#ffffff", wash: "#dce7ea" },
          dark: { accent: "#7db8f5", on: "#0c1311", wash: "#1d2c33" }
        }
      }
    },
    // Too light for light pages, and too dark for dark ones.
    bad: ["blue", "#fff", "#7db8f5", "#0b5cad,#0b5cad", "#0b5cad #7db8f5"],
    fault:
      /must be one or two colours|whose contrast on (light|dark) pages is \d+\.\d and must be 4\.5: choose/
  },
  BRAND_FOOTER: {
    field: "brand",
    unset: ownBrand,
    good: { "Möbel & Co, Bremen": { ...ownBrand, footer: "Möbel & Co, Bremen" } },
    bad: ["x".repeat(201)],
    fault: /must be one line of at most 200 characters/
  },
  BRAND_IMPRINT_URL: {
    field: "brand",
    unset: ownBrand,
    good: { "https://example.com/i": { ...ownBrand, imprintUrl: "https://example.com/i" } },
    bad: ["javascript:alert(1)", "example.com", `https://example.com/${"x".repeat(2_048)}`],
    fault: /must be an http or https URL of at most 2048 characters/
  },
  BRAND_PRIVACY_URL: {
    field: "brand",
    unset: ownBrand,
    good: { "https://example.com/p": { ...ownBrand, privacyUrl: "https://example.com/p" } },
    bad: ["mailto:a@b.example"],
    fault: /must be an http or https URL/
  },
  SIGN_UP: {
    field: "signUp",
    unset: false,
    good: { open: true, closed: false },
    bad: ["true", "Open"],
    fault: /must be one of open, closed, not "/
  },
  CREATES_PER_MINUTE: limit("createsPerMinute", null),
  REDIRECTS_PER_DAY: limit("redirectsPerDay", null),
  ANONYMOUS_CREATES_PER_MINUTE: limit("anonymousCreatesPerMinute", 60),
  FAILED_LOOKUPS_PER_MINUTE: limit("failedLookupsPerMinute", 120),
  CONNECTIONS_MAX: integer("connectionsMax", 10_000, 1, 1_000_000),
  CONNECTIONS_PER_CLIENT: limit("connectionsPerClient", 256),
  TRUSTED_PROXIES: {
    field: "trustedProxies",
    unset: [],
    good: {
      "10.0.0.1": ["10.0.0.1/32"],
      "10.1.2.3/8, ::1,fd00::/8": ["10.1.2.3/8", "::1/128", "fd00::/8"],
      "::ffff:10.0.0.1": ["10.0.0.1/32"],
      "0.0.0.0/0": ["0.0.0.0/0"]
    },
    bad: ["true", "10", "10.0.0.0/33", "::/129", "10.0.0.1/", "10.0.0.1/8/8", "10.0.0.1,,::1", "localhost"],
    fault: /must be IP addresses and networks such as 10\.0\.0\.0\/8, separated by commas, not "/
  },
  LOG_FORMAT: {
    field: "logFormat",
    unset: "pretty",
    good: { json: "json" },
    bad: ["xml", "JSON"],
    fault: /must be one of pretty, json, not "/
  },
  LOG_LEVEL: {
    field: "logLevel",
    unset: LogLevel.Info,
    good: {
      trace: LogLevel.Trace,
      debug: LogLevel.Debug,
      info: LogLevel.Info,
      warning: LogLevel.Warning,
      error: LogLevel.Error,
      none: LogLevel.None
    },
    bad: ["warn", "INFO", "3"],
    fault: /must be one of trace, debug, info, warning, error, none, not "/
  }
}

const secret = new Set(["DATABASE_URL", "KEY_SECRET", "HASH_SECRET", "ADMIN_API_KEY", "METRICS_TOKEN"])

describe.each(Object.entries(variables))("%s", (name, { bad, fault, field, good, unset }) => {
  it("has its default when it is unset, empty, or white space", () => {
    for (const given of [{}, { [name]: "" }, { [name]: "  " }]) {
      expect(plain(readOrThrow(given)[field])).toEqual(unset)
    }
  })

  it.each(Object.entries(good))("may be %s", (text, expected) => {
    expect(plain(readOrThrow({ [name]: text })[field])).toEqual(expected)
  })

  it("may have white space around it", () => {
    const [text, expected] = Object.entries(good)[0]!
    expect(plain(readOrThrow({ [name]: ` ${text}\n` })[field])).toEqual(expected)
  })

  if (bad.length === 0) return
  it.each(bad)("may not be %s: the message says which variable, why, and what would do", (text) => {
    const messages = faults({ [name]: text })
    expect(messages).toHaveLength(1)
    const [message] = messages
    expect(message).toMatch(fault)
    expect(message!.startsWith(`${name} `)).toBe(true)
    const example = new RegExp(`; for example ${name}=(.+)$`).exec(message!)?.[1]
    expect(faults({ [name]: example! })).toEqual([])
    if (secret.has(name)) expect(message).not.toContain(text)
  })
})

const cluster = { DATABASE_URL: "postgres://db/links", REDIS_URLS: "redis://one:6379,redis://two:6379" }

describe("settings that go together", () => {
  it("tell every fault at once", () => {
    const messages = faults({ PORT: "0", BASE_URL: "sho.rt", KEY_SECRET: "x", LOG_LEVEL: "loud", HOST: "" })
    expect(messages.map((message) => message.split(" ")[0]).toSorted()).toEqual([
      "BASE_URL",
      "KEY_SECRET",
      "LOG_LEVEL",
      "PORT"
    ])
  })

  it("believe COUNTRY_HEADER of trusted proxies only", () => {
    const proxies = { TRUSTED_PROXIES: "10.0.0.0/8" }
    expect(plain(readOrThrow({ ...proxies, COUNTRY_HEADER: "CF-IPCountry" }).countryHeader)).toBe(
      "cf-ipcountry"
    )
    expect(plain(readOrThrow(proxies).countryHeader)).toBe(null)
    expect(faults({ COUNTRY_HEADER: "CF-IPCountry" })).toEqual([
      expect.stringMatching(
        /^TRUSTED_PROXIES is needed beside COUNTRY_HEADER.*; for example TRUSTED_PROXIES=/
      )
    ])
    for (const text of ["x y", "x:", "ü", "x".repeat(65)]) {
      expect(faults({ ...proxies, COUNTRY_HEADER: text })).toEqual([
        expect.stringMatching(
          /^COUNTRY_HEADER must be the name of a header, not ".*; for example COUNTRY_HEADER=/
        )
      ])
    }
  })

  it("want a cluster for PROCESSES, and ports for all of them", () => {
    const many = { ...cluster, PROCESSES: "4" }
    expect(readOrThrow(many).processes).toBe(4)
    expect(faults({ PROCESSES: "4", DATABASE_URL: cluster.DATABASE_URL })).toEqual([
      expect.stringMatching(/^PROCESSES can be more than 1 in a cluster only.*; for example PROCESSES=1$/)
    ])
    expect(readOrThrow({ ...many, RUNNER_PORT: "65532" }).processes).toBe(4)
    expect(faults({ ...many, RUNNER_PORT: "65533" })).toEqual([
      expect.stringMatching(/^RUNNER_PORT is too high for 4 processes/)
    ])
    expect(readOrThrow({ ...many, PORT: "34435" }).processes).toBe(4)
    expect(faults({ ...many, PORT: "34434" })).toEqual([
      expect.stringMatching(/^PORT must not be one of the 4 runner ports/)
    ])
  })

  for (const [name, field, databasesMax] of [
    ["LINK_DATABASE_URLS", "linkDatabaseUrls", 63],
    ["VISIT_DATABASE_URLS", "visitDatabaseUrls", 64]
  ] as const) {
    it(`take further databases (${name}), in their order, beside DATABASE_URL`, () => {
      const urls = "postgres://one:1,two:2/links,postgresql://three/links"
      const given = { DATABASE_URL: cluster.DATABASE_URL, [name]: urls }
      expect(readOrThrow(given)[field].map(Redacted.value)).toEqual([
        "postgres://one:1,two:2/links",
        "postgresql://three/links"
      ])
      expect(readOrThrow(cluster)[field]).toEqual([])
      expect(faults({ [name]: urls })).toEqual([
        expect.stringMatching(new RegExp(`^DATABASE_URL is needed beside ${name}`))
      ])
      for (const text of [
        "a,b",
        "postgres://a,,b/links",
        "postgres://a/l,mysql://b/l",
        "postgres://me@a/l,postgres://a/m,postgres://you@b,a:5432/l",
        `${"postgres://a/l,".repeat(databasesMax)}postgres://a/l`
      ]) {
        expect(faults({ ...given, [name]: text })).toEqual([
          expect.stringMatching(new RegExp(`^${name} must .*; for example ${name}=postgres:`))
        ])
      }
    })
  }

  it("take the base URL from the port when it is not set", () => {
    expect(readOrThrow({ PORT: "3000" }).baseUrl.href).toBe("http://localhost:3000/")
  })

  it("allow anonymous creates by default only where nobody else shares the database", () => {
    expect(readOrThrow({ DATABASE_URL: cluster.DATABASE_URL }).anonymousCreates).toBe(false)
    expect(
      readOrThrow({ DATABASE_URL: cluster.DATABASE_URL, ANONYMOUS_CREATES: "true" }).anonymousCreates
    ).toBe(true)
  })

  it.each([
    ["2000", "2000"],
    ["10000", undefined],
    [undefined, "1999"]
  ])("want POOL_LOW (%s) below POOL_HIGH (%s)", (low, high) => {
    const given = {
      ...(low !== undefined && { POOL_LOW: low }),
      ...(high !== undefined && { POOL_HIGH: high })
    }
    expect(faults(given)).toEqual([
      expect.stringMatching(/^POOL_LOW must be below POOL_HIGH \(\d+\); for example /)
    ])
  })

  it.each(["table", "status", "two-table", "file"])("take KEY_STOCK=%s with how many keys", (kind) => {
    const given = { KEY_STOCK: kind, KEY_STOCK_TARGET: "1000000" }
    expect(readOrThrow(given)).toMatchObject({ keyStock: kind, keyStockTarget: 1_000_000 })
    expect(faults({ KEY_STOCK: kind })).toEqual([
      `KEY_STOCK_TARGET must be at least 1 beside KEY_STOCK=${kind}; for example KEY_STOCK_TARGET=100000`
    ])
  })

  it("want a kind of stock beside KEY_STOCK_TARGET, and none in a file beside DATABASE_URL", () => {
    expect(faults({ KEY_STOCK_TARGET: "5" })).toEqual([
      expect.stringMatching(/^KEY_STOCK must say how keys are stocked.*; for example KEY_STOCK=table$/)
    ])
    const file = { KEY_STOCK: "file", KEY_STOCK_TARGET: "5" }
    expect(faults({ ...file, KEY_ORDER: "random" })).toEqual([
      expect.stringMatching(/^KEY_STOCK cannot be file beside KEY_ORDER=random/)
    ])
    for (const given of [cluster, { DATABASE_URL: cluster.DATABASE_URL }])
      expect(faults({ ...file, ...given })).toEqual([
        expect.stringMatching(/^KEY_STOCK can be file only without DATABASE_URL/)
      ])
  })

  it("make a node of a cluster: its pool shards, a delay before it stops, and its role", () => {
    const node = readOrThrow(cluster)
    expect(Option.getOrThrow(node.redisUrls)).toHaveLength(2)
    expect(plain(node.drainDelay)).toBe(2_000)
    expect(readOrThrow({ ...cluster, NODE_ROLE: "http" }).nodeRole).toBe("http")
    expect(plain(readOrThrow({ ...cluster, DRAIN_DELAY: "PT0S" }).drainDelay)).toBe(0)
  })

  it("want a database to share beside REDIS_URLS", () => {
    expect(faults({ REDIS_URLS: cluster.REDIS_URLS })).toEqual([
      expect.stringMatching(/^DATABASE_URL is needed beside REDIS_URLS.*; for example DATABASE_URL=postgres:/)
    ])
  })

  it("want a cluster for NODE_ROLE=http", () => {
    expect(faults({ NODE_ROLE: "http" })).toEqual([
      expect.stringMatching(/^NODE_ROLE can be http in a cluster only/)
    ])
  })

  it("want a cluster for KEY_POOL=set", () => {
    expect(faults({ KEY_POOL: "set" })).toEqual([
      expect.stringMatching(/^KEY_POOL can be set in a cluster only/)
    ])
    expect(readOrThrow({ ...cluster, KEY_POOL: "set" }).keyPool).toBe("set")
  })

  it.each(["localhost:6379", "http://localhost:6379", "redis://", "redis://a,postgres://b"])(
    "want REDIS_URLS to be Redis URLs, not %s",
    (urls) => {
      expect(faults({ ...cluster, REDIS_URLS: urls })).toEqual([
        expect.stringMatching(/^REDIS_URLS .*; for example REDIS_URLS=redis:/)
      ])
    }
  )

  it("let links be made without a key only where nobody but this machine's users comes", () => {
    const open = (given: Variables) => readOrThrow(given).anonymousCreates
    expect(open({ HOST: "localhost", BASE_URL: "http://localhost:8080" })).toBe(true)
    expect(open({ HOST: "::1" })).toBe(true)
    expect(open({ HOST: "0.0.0.0" })).toBe(false)
    expect(open({ BASE_URL: "https://sho.rt" })).toBe(false)
    expect(open({ HOST: "0.0.0.0", ANONYMOUS_CREATES: "true" })).toBe(true)
  })

  it("want HOST to let the other nodes in", () => {
    expect(faults({ ...cluster, RUNNER_HOST: "node-1" })).toEqual([
      expect.stringMatching(/^HOST must let the other nodes in/)
    ])
    expect(faults({ ...cluster, RUNNER_HOST: "node-1", HOST: "0.0.0.0" })).toEqual([])
  })

  it("never show a secret when they are printed", () => {
    const given = {
      KEY_SECRET: "ab".repeat(16),
      ADMIN_API_KEY: "k".repeat(20),
      DATABASE_URL: "postgres://u:hidden@db/l",
      HASH_SECRET: "hidden".repeat(3),
      METRICS_TOKEN: "hidden".repeat(3),
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=hidden"
    }
    const printed = JSON.stringify(readOrThrow(given)) + String(Object.values(readOrThrow(given)).map(String))
    for (const hidden of ["abab", "kkkk", "hidden"]) expect(printed).not.toContain(hidden)
  })
})

describe("METRICS_PORT", () => {
  const cluster = { DATABASE_URL: "postgres://db/l", REDIS_URLS: "redis://r", PROCESSES: "3" }

  it.each([
    ["8080", { PORT: "8080" }],
    ["8078", { PORT: "8080", ...cluster }],
    ["34433", { RUNNER_PORT: "34431", ...cluster }],
    ["34429", { RUNNER_PORT: "34431", ...cluster }],
    ["65534", cluster]
  ])("may not be %s beside %j", (METRICS_PORT, others) => {
    expect(faults({ METRICS_PORT, ...others })).toEqual([expect.stringMatching(/^METRICS_PORT /)])
  })

  it.each([
    ["8081", { PORT: "8080" }],
    ["8077", { PORT: "8080", ...cluster }],
    ["34434", { RUNNER_PORT: "34431", ...cluster }],
    ["65533", cluster]
  ])("may be %s beside %j", (METRICS_PORT, others) => {
    expect(faults({ METRICS_PORT, ...others })).toEqual([])
  })
})

describe("what is sent to an OpenTelemetry receiver", () => {
  const tracing = (variables: Variables) =>
    plain(readOrThrow({ OTEL_EXPORTER_OTLP_ENDPOINT: "https://otel.example/base", ...variables }).tracing)

  it("is told by OpenTelemetry's variables", () => {
    const given = {
      OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Bearer%20a%3Db, x-tenant = t",
      OTEL_TRACES_SAMPLER_ARG: "0.25"
    }
    expect(tracing(given)).toEqual({
      endpoint: "https://otel.example/base",
      headers: { authorization: "Bearer a=b", "x-tenant": "t" },
      ratio: 0.25
    })
  })

  it.each(["nothing", "a=b,,c=d", "a=%zz"])("may not be %s, of which the fault tells nothing", (text) => {
    const [fault] = faults({ OTEL_EXPORTER_OTLP_HEADERS: text })
    expect(fault).toMatch(/^OTEL_EXPORTER_OTLP_HEADERS must be of the form name=value/)
    expect(fault).not.toContain(text)
  })

  it.each(["-0.1", "1.1", "half", "NaN", "1e-1"])("is no share of %s", (text) => {
    expect(faults({ OTEL_TRACES_SAMPLER_ARG: text })[0]).toMatch(/must be a number from 0 to 1/)
  })
})
