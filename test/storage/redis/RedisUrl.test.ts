import { Either, FastCheck as fc, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import * as RedisUrl from "../../../src/storage/redis/RedisUrl.ts"

const one = (text: string): RedisUrl.RedisUrl =>
  Either.getOrThrowWith(RedisUrl.parse(text), (fault) => new Error(fault))
const fault = (text: string): string => Either.getOrThrow(Either.flip(RedisUrl.parseAll(text)))

const host = fc.oneof(
  fc.stringMatching(/^[a-z0-9._-]{1,20}$/),
  fc.ipV4(),
  fc.ipV6().filter((address) => !address.includes("%"))
)
const port = fc.integer({ min: 1, max: 65_535 })
const address = fc.record({ host, port })
// Characters that mean something in a URL come often.
const word = fc.string({
  unit: fc.oneof(
    fc.constantFrom(..."@:/?#,%&=[] +redis"),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 })
  ),
  minLength: 1,
  maxLength: 20
})
const credentials = fc.option(
  fc.record({ username: fc.option(word), password: word.map((text) => Redacted.make(text)) })
)
const database = fc.oneof(fc.nat(15), fc.nat(2 ** 31 - 1))
const server: fc.Arbitrary<RedisUrl.RedisUrl> = fc.record({
  _tag: fc.constant("Server" as const),
  address,
  tls: fc.boolean(),
  credentials,
  database
})
const sentinel: fc.Arbitrary<RedisUrl.RedisUrl> = fc.record({
  _tag: fc.constant("Sentinel" as const),
  sentinels: fc.array(address, { minLength: 1, maxLength: 5 }),
  name: fc.stringMatching(/^[a-zA-Z0-9._-]{1,20}$/),
  credentials,
  sentinelCredentials: credentials,
  database
})
const url = fc.oneof(server, sentinel)

const written = (text: string | null) => encodeURIComponent(text ?? "")
const writtenAddress = (each: RedisUrl.RedisAddress) =>
  `${each.host.includes(":") ? `[${each.host}]` : each.host}:${each.port}`
const writtenUser = (each: RedisUrl.RedisCredentials | null) =>
  each === null ? "" : `${written(each.username)}:${written(Redacted.value(each.password))}@`

/** Writes a URL the long way. */
const format = (each: RedisUrl.RedisUrl): string => {
  if (each._tag === "Server") {
    const scheme = each.tls ? "rediss" : "redis"
    return `${scheme}://${writtenUser(each.credentials)}${writtenAddress(each.address)}/${each.database}`
  }
  const { sentinelCredentials: own } = each
  const sentinels = each.sentinels.map(writtenAddress).join(",")
  const user =
    own === null
      ? ""
      : `&sentinelUser=${written(own.username)}&sentinelPassword=${written(Redacted.value(own.password))}`
  return `redis+sentinel://${writtenUser(each.credentials)}${sentinels}/${each.name}?db=${each.database}${user}`
}

/** Redacted values are compared by what is in them. */
const revealed = (value: unknown): unknown =>
  Redacted.isRedacted(value)
    ? { redacted: Redacted.value(value) }
    : Array.isArray(value)
      ? value.map(revealed)
      : typeof value === "object" && value !== null
        ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, revealed(each)]))
        : value

describe("RedisUrl", () => {
  it("reads back whatever URLs are written, one or many", () => {
    fc.assert(
      fc.property(
        fc.array(url, { minLength: 1, maxLength: 6 }),
        fc.constantFrom(",", ", ", " ,\n"),
        (urls, comma) => {
          const parsed = RedisUrl.parseAll(urls.map(format).join(comma))
          expect(revealed(Either.getOrThrow(parsed))).toEqual(revealed(urls))
        }
      )
    )
  })

  it("fills in the ports, the database and no credentials", () => {
    expect(one("redis://localhost")).toEqual({
      _tag: "Server",
      address: { host: "localhost", port: 6379 },
      tls: false,
      credentials: null,
      database: 0
    })
    expect(one("REDISS://[::1]/")).toMatchObject({
      tls: true,
      address: { host: "::1", port: 6379 },
      database: 0
    })
    expect(one("redis+sentinel://a,b:1/mymaster")).toEqual({
      _tag: "Sentinel",
      sentinels: [
        { host: "a", port: 26379 },
        { host: "b", port: 1 }
      ],
      name: "mymaster",
      credentials: null,
      sentinelCredentials: null,
      database: 0
    })
  })

  it("takes a password alone, and one with characters that need no encoding", () => {
    const { credentials } = one("redis://:p,a:ss@w%40rd%2F@h:1/2")
    expect(revealed(credentials)).toEqual({ username: null, password: { redacted: "p,a:ss@w@rd/" } })
  })

  it("divides at commas that a scheme follows, and at no others", () => {
    const urls = RedisUrl.parseAll("redis://a,redis+sentinel://b:1,c:2/m, rediss://:x,redis@d/1")
    expect(Either.getOrThrow(urls).map(RedisUrl.label)).toEqual([
      "redis://a:6379/0",
      "redis+sentinel://b:1,c:2/m?db=0",
      "rediss://d:6379/1"
    ])
  })

  it.each([
    ["", "must be a redis://, rediss:// or redis+sentinel:// URL"],
    ["http://h", "must be a redis://, rediss:// or redis+sentinel:// URL"],
    ["redis://h/0#part", "must be a redis://, rediss:// or redis+sentinel:// URL"],
    ["redis://", "needs a host"],
    ["redis://a b", "needs a host"],
    ["redis://h:port", "needs a host"],
    ["redis://h:0", "port that is not from 1 to 65535"],
    ["redis://h:65536", "port that is not from 1 to 65535"],
    ["redis://a,b", "several hosts"],
    ["redis://a,", "several hosts"],
    ["redis://user@h", "user name without a password"],
    ["redis://:%zz@h", "a % that is not followed"],
    ["redis://h/one", "database that is not a number"],
    ["redis://h/-1", "database that is not a number"],
    ["redis://h/2147483648", "database that is not a number"],
    ["redis://h/0?db=1", "has parameters"],
    ["redis+sentinel://h", "needs the primary's name"],
    ["redis+sentinel://a,,b/m", "needs a host"],
    ["redis+sentinel://h/m?db=x", "database that is not a number"],
    ["redis+sentinel://h/m?database=1", "a parameter other than db, sentinelUser, sentinelPassword"],
    ["redis+sentinel://h/m?db", "a parameter that is not name=value"],
    ["redis+sentinel://h/m?sentinelUser=me", "user name without a password"]
  ])("says what is wrong with %s", (text, expected) => {
    expect(fault(text)).toContain(expected)
    expect(fault(`redis://first,${/^\w.*:\/\//.test(text) ? text : `redis:/${text}`}`)).toMatch(
      /^\(URL [12] of [12]\) /
    )
  })

  it("never shows a part of a URL that it refuses, nor credentials of one that it takes", () => {
    const secret = "hunter2"
    const refused = [
      `redis://h:${secret}`,
      `redis://${secret}/word@h`,
      `redis://x:y@${secret}%`,
      `redis://u:p@h/${secret}`,
      `redis://${secret}@h`,
      `redis://:${secret}%@h`,
      `redis+sentinel://h/m?${secret}`,
      `redis+sentinel://h/m?db=${secret}`,
      `redis+sentinel://h/m?${secret}=1`,
      secret
    ]
    for (const text of refused) expect(fault(text)).not.toContain(secret)
    expect(RedisUrl.label(one(`redis://u:${secret}@h/1`))).toBe("redis://h:6379/1")
    const sentinels = one(`redis+sentinel://:${secret}@a,b/m?sentinelPassword=${secret}`)
    expect(RedisUrl.label(sentinels)).toBe("redis+sentinel://a:26379,b:26379/m?db=0")
    expect(JSON.stringify(sentinels)).not.toContain(secret)
  })

  it("refuses more URLs than there may be pool shards", () => {
    expect(fault(Array.from({ length: 257 }, () => "redis://h").join())).toContain("has 257 URLs")
  })
})
