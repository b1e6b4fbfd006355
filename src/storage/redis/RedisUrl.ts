import { Either, Redacted } from "effect"

/** A host and its TCP port. An IPv6 address has no brackets here. */
export interface RedisAddress {
  readonly host: string
  readonly port: number
}

/** Our credentials at a server; without a user name its `default` user's. */
export interface RedisCredentials {
  readonly username: string | null
  readonly password: Redacted.Redacted
}

/** One Redis server. */
export interface RedisServerUrl {
  readonly _tag: "Server"
  readonly address: RedisAddress
  /** Whether the connection is encrypted, and the server's certificate checked. */
  readonly tls: boolean
  readonly credentials: RedisCredentials | null
  /** The number of the logical database. */
  readonly database: number
}

/** A primary that Sentinels watch: they say which server it is at the moment. */
export interface RedisSentinelUrl {
  readonly _tag: "Sentinel"
  readonly sentinels: ReadonlyArray<RedisAddress>
  /** What the Sentinels call the primary, such as `mymaster`. */
  readonly name: string
  readonly credentials: RedisCredentials | null
  /** For the Sentinels themselves, if they need any. */
  readonly sentinelCredentials: RedisCredentials | null
  readonly database: number
}

/** Where the Redis of one pool shard is, or how it is found. */
export type RedisUrl = RedisServerUrl | RedisSentinelUrl

/** URLs in one setting at most. */
const urlsMax = 256

const serverPort = 6_379
const sentinelPort = 26_379
/** Redis counts its databases by a signed 32-bit number. */
const databaseMax = 2 ** 31 - 1

// Scheme, credentials up to the last @, hosts, path, query. As in any URL, credentials cannot contain / or ?.
const shape = /^(rediss?|redis\+sentinel):\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i
const hostAndPort = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::(\d{1,5}))?$/i
const separator = /\s*,\s*(?=(?:rediss?|redis\+sentinel):\/\/)/i

/**
 * What is wrong with a URL. It never contains a part of the URL: any part of a misspelled one may be the password.
 */
type Fault = string

const decode = (text: string): Either.Either<string, Fault> =>
  Either.try({
    try: () => decodeURIComponent(text),
    catch: () => "has a % that is not followed by two hexadecimal digits of UTF-8"
  })

const addressOf = (text: string, defaultPort: number): Either.Either<RedisAddress, Fault> => {
  const [, v6, name, digits] = hostAndPort.exec(text) ?? []
  const host = v6 ?? name
  if (host === undefined) return Either.left("needs a host, or host:port (an IPv6 address in brackets)")
  const port = digits === undefined ? defaultPort : Number(digits)
  return port >= 1 && port <= 65_535
    ? Either.right({ host, port })
    : Either.left("has a port that is not from 1 to 65535")
}

const databaseOf = (text: string): Either.Either<number, Fault> =>
  /^\d{1,10}$/.test(text) && Number(text) <= databaseMax
    ? Either.right(Number(text))
    : Either.left("has a database that is not a number from 0 on")

const credentialsOf = (username: string, password: string): Either.Either<RedisCredentials | null, Fault> => {
  if (password !== "") {
    return Either.right({
      username: username === "" ? null : username,
      password: Redacted.make(password)
    })
  }
  return username === ""
    ? Either.right(null)
    : Either.left("has a user name without a password (a password alone goes after a colon)")
}

const userInfo = (text: string): Either.Either<RedisCredentials | null, Fault> => {
  const colon = text.indexOf(":")
  const [username, password] = colon < 0 ? [text, ""] : [text.slice(0, colon), text.slice(colon + 1)]
  return Either.flatMap(Either.all([decode(username), decode(password)]), (both) => credentialsOf(...both))
}

const sentinelParameters = ["db", "sentinelUser", "sentinelPassword"]

const parametersOf = (text: string): Either.Either<ReadonlyMap<string, string>, Fault> => {
  const pairs = text === "" ? [] : text.split("&").map((pair) => pair.split("="))
  if (pairs.some(([name, value, ...more]) => !name || value === undefined || more.length > 0)) {
    return Either.left("has a parameter that is not name=value")
  }
  return Either.map(
    Either.all(
      pairs.map(([name, value]) => Either.map(decode(value!), (decoded) => [name!, decoded] as const))
    ),
    (entries) => new Map(entries)
  )
}

const parseServer = (tls: boolean, user: string, hosts: string, path: string, query: string) =>
  Either.gen(function* () {
    if (hosts.includes(",")) return yield* Either.left("has several hosts; only redis+sentinel:// URLs do")
    const address = yield* addressOf(hosts, serverPort)
    const credentials = yield* userInfo(user)
    const database = path === "" ? 0 : yield* databaseOf(path)
    if (query !== "") return yield* Either.left("has parameters; the database goes after the slash")
    return { _tag: "Server" as const, address, tls, credentials, database }
  })

const parseSentinel = (user: string, hosts: string, path: string, query: string) =>
  Either.gen(function* () {
    const sentinels = yield* Either.all(hosts.split(",").map((host) => addressOf(host.trim(), sentinelPort)))
    const credentials = yield* userInfo(user)
    const name = yield* decode(path)
    if (!/^[\w.-]+$/.test(name)) {
      return yield* Either.left("needs the primary's name after the slash, as the Sentinels know it")
    }
    const parameters = yield* parametersOf(query)
    if ([...parameters.keys()].some((parameter) => !sentinelParameters.includes(parameter))) {
      return yield* Either.left(`has a parameter other than ${sentinelParameters.join(", ")}`)
    }
    const database = yield* databaseOf(parameters.get("db") ?? "0")
    const sentinelCredentials = yield* credentialsOf(
      parameters.get("sentinelUser") ?? "",
      parameters.get("sentinelPassword") ?? ""
    )
    return { _tag: "Sentinel" as const, sentinels, name, credentials, sentinelCredentials, database }
  })

/** Parses one URL; see {@link parseAll} for the forms. */
export const parse = (text: string): Either.Either<RedisUrl, Fault> => {
  const parts = shape.exec(text.trim())
  if (parts === null) return Either.left("must be a redis://, rediss:// or redis+sentinel:// URL")
  const [, scheme, user = "", hosts = "", path = "", query = ""] = parts
  return scheme!.toLowerCase() === "redis+sentinel"
    ? parseSentinel(user, hosts, path, query)
    : parseServer(scheme!.toLowerCase() === "rediss", user, hosts, path, query)
}

/**
 * Parses the value of `REDIS_URLS`: URLs separated by commas, one for each pool shard, at most `urlsMax`.
 *
 * - `redis://[[user]:password@]host[:port][/database]`; `rediss://…` is the same over TLS.
 * - `redis+sentinel://[[user]:password@]host[:port],host[:port]…/name[?db=1&sentinelUser=…&sentinelPassword=…]`
 *   gives the Sentinels and what they call the primary. The credentials are for the primary; those for the Sentinels are parameters.
 *
 * A comma separates two URLs exactly when a scheme follows it (`,redis://`); any other is part of its URL.
 * Ports default to 6379 and 26379, the database to 0. In user, password and parameters `%` starts an encoded byte, and `/`, `?` and `#`
 * have to be encoded. The fault names the URL only by its position, because any part of a misspelled one may be a password.
 */
export const parseAll = (text: string): Either.Either<ReadonlyArray<RedisUrl>, Fault> => {
  const urls = text.trim().split(separator)
  if (urls.length > urlsMax) return Either.left(`has ${urls.length} URLs; there may be ${urlsMax}`)
  return Either.all(
    urls.map((url, index) =>
      Either.mapLeft(parse(url), (fault) => `(URL ${index + 1} of ${urls.length}) ${fault}`)
    )
  )
}

const addressText = ({ host, port }: RedisAddress) => `${host.includes(":") ? `[${host}]` : host}:${port}`

/** A URL as logs show it: without credentials. */
export const label = (url: RedisUrl): string =>
  url._tag === "Server"
    ? `redis${url.tls ? "s" : ""}://${addressText(url.address)}/${url.database}`
    : `redis+sentinel://${url.sentinels.map(addressText).join(",")}/${url.name}?db=${url.database}`
