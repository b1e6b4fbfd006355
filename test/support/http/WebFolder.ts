// A web folder as the build makes it, with no more in it than the pages of visitors name.

import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Makes one, and gives its path. */
export const makeWebFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "linkmint-visitor-"))
  mkdirSync(join(folder, "assets"))
  writeFileSync(join(folder, "index.html"), "<!doctype html><p>page")
  writeFileSync(join(folder, "assets/visitor-abc.css"), "h1 { color: green }")
  writeFileSync(join(folder, "assets/icon-abc.svg"), "<svg/>")
  return folder
}
