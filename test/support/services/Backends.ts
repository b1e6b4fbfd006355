// The last line of a test run: which backends it really exercised.

import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"

/** The backends that tests can run on, in the order of the summary. */
export const backends = ["memory", "SQLite", "PostgreSQL", "Redis"] as const

/** A backend by name. */
export type Backend = (typeof backends)[number]

/** A backend's version as the summary shows it, or the empty string; absent where no test used it. */
export type Exercised = Partial<Record<Backend, string>>

/** Reads what the test files noted: a file a backend, which contains its version. */
export const readExercised = (folder: string): Exercised =>
  Object.fromEntries(
    backends
      .map((backend) => [backend, join(folder, backend)] as const)
      .filter(([, file]) => existsSync(file))
      .map(([backend, file]) => [backend, readFileSync(file, "utf8")])
  )

/** The line that ends the run: the backends used, and those that could not be, with the reason. */
export const summary = (exercised: Exercised, missing: Partial<Record<Backend, string>>): string => {
  const parts = backends.flatMap((backend) => {
    const version = exercised[backend]
    if (version !== undefined) return `${backend} ${version}`.trim()
    const reason = missing[backend]
    return reason === undefined ? [] : `${backend} MISSING (${reason})`
  })
  return `backends: ${parts.length === 0 ? "none" : parts.join(" · ")}`
}
