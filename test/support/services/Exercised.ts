import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { inject } from "vitest"
import type { Backend } from "./Backends.ts"

/**
 * Notes that the running test file really uses a backend, so that the last line of the test run names it. Call it
 * where the backend is opened (in the layer, not at the top of a file), with its version and, in brackets,
 * anything worth knowing: `exercised("SQLite", "3.44.0 (libSQL)")`. Calling it again changes nothing.
 */
export const exercised = (backend: Backend, version = ""): void =>
  writeFileSync(join(inject("exercised"), backend), version)
