// Where the files of this repository are, for sources and for what is compiled from them.

import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const rootFrom = (folder: string): string =>
  existsSync(join(folder, "package.json")) ? folder : rootFrom(dirname(folder))

const root = rootFrom(dirname(fileURLToPath(import.meta.url)))

/** The path of a file of this repository. */
export const inRepository = (path: string): string => join(root, path)
