import { ConfigProvider, type ConfigError, Effect, Either } from "effect"
import { closest, distance } from "fastest-levenshtein"
// The one place that looks at the environment: everything else asks Config.
import { env } from "node:process"
import * as SecretFiles from "./SecretFiles.ts"
import { examples } from "./Settings.ts"

/** Variables that a library reads. */
const ofLibraries = ["OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"]

/** Every variable that means something to the program. */
export const known: ReadonlyArray<string> = [
  ...examples.keys(),
  ...SecretFiles.secretSettings.map(SecretFiles.fileVariable),
  ...ofLibraries
]

/** A name that differs from a setting's in so many characters at most is taken for it. A short one is left alone: it is near to everything. */
const distanceMax = 2
const lengthMin = 7

/** Variables whose names are nearly those of settings, each with the setting that was probably meant. */
export const misspelt = (
  variables: Readonly<Record<string, string | undefined>>
): ReadonlyArray<readonly [given: string, meant: string]> =>
  Object.keys(variables)
    .filter((name) => name.length >= lengthMin && /^[A-Z0-9_]+$/.test(name) && !known.includes(name))
    .map((name) => [name, closest(name, known)] as const)
    .filter(([name, meant]) => distance(name, meant) <= distanceMax)

/** Tells of variables of this process that look like settings and are none. */
export const warnOfMisspelt: Effect.Effect<void> = Effect.forEach(
  misspelt(env),
  ([name, meant]) =>
    Effect.logWarning(`${name} is no setting of Linkmint, and does nothing. Is it meant to be ${meant}?`),
  { discard: true }
)

/** The settings of this process: `said`, then its environment, and the files that it names for secrets. */
export const provider = (
  said: ReadonlyMap<string, string> = new Map()
): Either.Either<ConfigProvider.ConfigProvider, ConfigError.ConfigError> =>
  Either.map(SecretFiles.read(env), (secrets) =>
    ConfigProvider.orElse(ConfigProvider.fromMap(new Map([...secrets, ...said])), () =>
      ConfigProvider.fromEnv()
    )
  )
