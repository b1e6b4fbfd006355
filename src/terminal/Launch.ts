import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { debuglog } from "node:util"
import { Script } from "node:vm"

const log = debuglog("linkmint")

/** The file with V8's code cache of a bundle. */
export const cacheOf = (bundle: URL): string => `${fileURLToPath(bundle)}.cache`

const readCache = (file: string): Buffer | undefined => {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}

/** A program that runs. */
export interface Launched {
  readonly script: Script
  readonly exports: object
}

/**
 * Runs a program that the build has put into one CommonJS file. V8 takes the compiled functions from the code cache beside the file, which saves
 * more than a quarter of the start. It rejects a cache that another version of Node, or Node with other V8 options, has made, and compiles the file instead.
 * `NODE_DEBUG=linkmint` says which.
 */
export const launch = (bundle: URL): Launched => {
  const filename = fileURLToPath(bundle)
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(filename, "utf8")}\n})`
  const cachedData = readCache(cacheOf(bundle))
  const script = new Script(source, { filename, ...(cachedData !== undefined && { cachedData }) })
  log(
    `code cache ${cachedData === undefined ? "missing" : script.cachedDataRejected === true ? "rejected" : "used"}`
  )
  const module = { exports: {} }
  const run = script.runInThisContext() as (...args: ReadonlyArray<unknown>) => void
  run(module.exports, createRequire(bundle), module, filename, dirname(filename))
  return { script, exports: module.exports }
}
