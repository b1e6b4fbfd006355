import { Config, ConfigError, Either, LogLevel, Option, Redacted } from "effect"
import * as Iso8601 from "./Iso8601.ts"
import { type Alphabet, alphabets, lengthMax, lengthMin } from "./KeySpace.ts"

/** What the operator chose; the README's table gives each variable's meaning and default. */
export interface Settings {
  readonly host: string
  readonly port: number
  /** Where short URLs point: scheme, host and port, without a slash at the end. */
  readonly baseUrl: URL
  readonly dataDir: string
  readonly databaseUrl: Option.Option<Redacted.Redacted>
  /** 16 bytes; none: drawn at the first start. */
  readonly keySecret: Option.Option<Redacted.Redacted<Uint8Array>>
  readonly keyAlphabet: Alphabet
  readonly keyLength: number
  readonly poolLow: number
  readonly poolHigh: number
  readonly bufferCapacity: number
  /** How long a link lives whose creator gave no expiry. */
  readonly defaultExpiry: Option.Option<Iso8601.Duration>
  readonly adminApiKey: Option.Option<Redacted.Redacted>
  readonly anonymousCreates: boolean
  readonly logFormat: "pretty" | "json"
  readonly logLevel: LogLevel.LogLevel
}

/** A setting that is not usable. */
const invalid = (name: string, fault: string, example: string) =>
  ConfigError.InvalidData([], `${name} ${fault}; for example ${name}=${example}`)

/** A variable that is read as text and then understood, or its default; an empty one counts as unset. */
const setting = <A>(
  name: string,
  options: {
    readonly example: string
    readonly orElse: A
    /** Gives the value, or the fault as text. */
    readonly read: (text: string) => Either.Either<A, string>
  }
): Config.Config<A> =>
  Config.string(name).pipe(
    Config.withDefault(""),
    Config.mapOrFail((text) =>
      text.trim() === ""
        ? Either.right(options.orElse)
        : Either.mapLeft(options.read(text.trim()), (fault) => invalid(name, fault, options.example))
    )
  )

const integer = (name: string, min: number, max: number, orElse: number) =>
  setting(name, {
    example: String(orElse),
    orElse,
    read: (text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
      return value >= min && value <= max
        ? Either.right(value)
        : Either.left(`must be a whole number from ${min} to ${max}, not "${text}"`)
    }
  })

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
  const url = URL.canParse(value) ? new URL(value) : undefined
  const usable =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    url.pathname === "/" &&
    `${url.search}${url.hash}${url.username}` === ""
  return usable
    ? Either.right(url)
    : Either.left(`must be an http or https URL without path, query or credentials, not "${value}"`)
})

const databaseUrl = optional("DATABASE_URL", "postgres://user:password@localhost:5432/linkmint", (value) =>
  URL.canParse(value) && /^postgres(ql)?:$/.test(new URL(value).protocol)
    ? Either.right(Redacted.make(value))
    : Either.left("must be a postgres:// URL")
)

const keySecret = optional("KEY_SECRET", "00112233445566778899aabbccddeeff", (value) =>
  /^[0-9a-fA-F]{32}$/.test(value)
    ? Either.right(Redacted.make(new Uint8Array(Buffer.from(value, "hex"))))
    : Either.left(`must be 32 hexadecimal digits, not ${value.length} characters of another kind`)
)

const adminApiKey = optional("ADMIN_API_KEY", "lm_a-long-random-text", (value) =>
  /^[\x21-\x7e]{16,255}$/.test(value)
    ? Either.right(Redacted.make(value))
    : Either.left("must be 16 to 255 printable characters without spaces")
)

const defaultExpiry = optional("DEFAULT_EXPIRY", "P30D", (value) =>
  Either.fromNullable(Iso8601.parseDuration(value), () => `must be an ISO 8601 duration, not "${value}"`)
)

const anonymousCreates = optional("ANONYMOUS_CREATES", "true", (value) =>
  value === "true" || value === "false"
    ? Either.right(value === "true")
    : Either.left(`must be true or false, not "${value}"`)
)

const logLevels = ["trace", "debug", "info", "warning", "error", "none"] as const

const raw = Config.all({
  host: text("HOST", "0.0.0.0"),
  port: integer("PORT", 1, 65_535, 8080),
  baseUrl,
  dataDir: text("DATA_DIR", "./data"),
  databaseUrl,
  keySecret,
  keyAlphabet: choice("KEY_ALPHABET", alphabets, "base62"),
  keyLength: integer("KEY_LENGTH", lengthMin, lengthMax, 7),
  poolLow: integer("POOL_LOW", 1, 65_535, 2_000),
  poolHigh: integer("POOL_HIGH", 2, 65_536, 10_000),
  bufferCapacity: integer("BUFFER_CAPACITY", 1, 65_536, 512),
  defaultExpiry,
  adminApiKey,
  anonymousCreates,
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

/** Reads and checks all settings. The error names each variable that is wrong, what is wrong with it, and an example. */
export const settings: Config.Config<Settings> = raw.pipe(
  Config.mapOrFail((values) =>
    values.poolLow < values.poolHigh
      ? Either.right({
          ...values,
          baseUrl: Option.getOrElse(values.baseUrl, () => new URL(`http://localhost:${values.port}`)),
          // Behind a database that others share, a link without an owner should be a choice.
          anonymousCreates: Option.getOrElse(values.anonymousCreates, () =>
            Option.isNone(values.databaseUrl)
          ),
          logLevel: levelOf[values.logLevel]
        })
      : Either.left(invalid("POOL_LOW", `must be below POOL_HIGH (${values.poolHigh})`, "2000"))
  )
)

/** The single messages of a settings error, one a fault. */
export const faultsOf = (error: ConfigError.ConfigError): ReadonlyArray<string> => {
  switch (error._op) {
    case "And":
    case "Or":
      return [...faultsOf(error.left), ...faultsOf(error.right)]
    default:
      return [error.message]
  }
}
