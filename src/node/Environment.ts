import { ConfigProvider, type ConfigError, Effect, Either } from "effect"
import { closest, distance } from "fastest-levenshtein"
// The only module that reads the environment: everything else uses Config.
import { env } from "node:process"
import * as SecretFiles from "./SecretFiles.ts"
import { examples } from "./Settings.ts"

/** Variables that libraries read. */
const ofLibraries = ["OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"]

/** Every variable that the program or a library reads. */
export const known: ReadonlyArray<string> = [
  ...examples.keys(),
  ...SecretFiles.secretSettings.map(SecretFiles.fileVariable),
  ...ofLibraries
]

/** A name that differs from a setting's in at most so many characters is taken for a misspelling of it. Short names are left alone: they are close to too many. */
const distanceMax = 2
const lengthMin = 7

/** Variables whose names resemble settings, each with the setting that was probably meant. */
export const misspelt = (
  variables: Readonly<Record<string, string | undefined>>
): ReadonlyArray<readonly [given: string, meant: string]> =>
  Object.keys(variables)
    .filter((name) => name.length >= lengthMin && /^[A-Z0-9_]+$/.test(name) && !known.includes(name))
    .map((name) => [name, closest(name, known)] as const)
    .filter(([name, meant]) => distance(name, meant) <= distanceMax)

/** Logs a warning for each variable of this process that looks like a misspelt setting. */
export const warnOfMisspelt: Effect.Effect<void> = Effect.forEach(
  misspelt(env),
  ([name, meant]) =>
    Effect.logWarning(`${name} is no setting of Linkmint, and does nothing. Is it meant to be ${meant}?`),
  { discard: true }
)

/** The settings of this process: `said` takes precedence over the environment and over the files that it names for secrets. */
export const provider = (
  said: ReadonlyMap<string, string> = new Map()
): Either.Either<ConfigProvider.ConfigProvider, ConfigError.ConfigError> =>
  Either.map(SecretFiles.read(env), (secrets) =>
    ConfigProvider.orElse(ConfigProvider.fromMap(new Map([...secrets, ...said])), () =>
      ConfigProvider.fromEnv()
    )
  )
