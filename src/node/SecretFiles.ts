import { ConfigError, Either } from "effect"
import { readFileSync } from "node:fs"

/** Settings that are secrets, or have some in them: each can be in a file that `<name>_FILE` names. */
export const secretSettings = [
  "DATABASE_URL",
  "DATABASE_REPLICA_URLS",
  "LINK_DATABASE_URLS",
  "VISIT_DATABASE_URLS",
  "REDIS_URLS",
  "KEY_SECRET",
  "HASH_SECRET",
  "ADMIN_API_KEY",
  "METRICS_TOKEN",
  "OTEL_EXPORTER_OTLP_HEADERS"
] as const

/** The variable that names the file of a secret. */
export const fileVariable = (name: (typeof secretSettings)[number]): string => `${name}_FILE`

const invalid = (message: string) => ConfigError.InvalidData([], message)

const readOne = (variable: string, file: string) =>
  Either.try({
    try: () => readFileSync(file, "utf8").replace(/\r?\n$/, ""),
    catch: (error) =>
      invalid(`${variable} names ${file}, which cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }).pipe(
    Either.filterOrLeft(
      (text) => text.trim() !== "",
      () => invalid(`${variable} names ${file}, which is empty`)
    )
  )

/** The secrets in the files that `variables` name, read once. The error names each variable that is wrong, and no secret. */
export const read = (
  variables: Readonly<Record<string, string | undefined>>
): Either.Either<ReadonlyMap<string, string>, ConfigError.ConfigError> => {
  const found = new Map<string, string>()
  const faults: Array<ConfigError.ConfigError> = []
  for (const name of secretSettings) {
    const variable = fileVariable(name)
    const file = variables[variable]?.trim() ?? ""
    if (file === "") continue
    if ((variables[name] ?? "").trim() !== "") {
      faults.push(invalid(`${name} and ${variable} cannot both be set`))
      continue
    }
    Either.match(readOne(variable, file), {
      onLeft: (fault) => void faults.push(fault),
      onRight: (text) => void found.set(name, text)
    })
  }
  const [first, ...others] = faults
  return first === undefined
    ? Either.right(found)
    : Either.left(others.reduce((all, fault) => ConfigError.And(all, fault), first))
}
