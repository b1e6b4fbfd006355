import { spawnSync } from "node:child_process"
import { dirname, join, relative, resolve } from "node:path"
import type { Plugin } from "vite"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

const root = import.meta.dirname

/** Folders of tests that take long, in the order in which they begin: the longest first, so that it is not left over in the end, and beside it none that need the cores for themselves. */
const longFirst = ["chaos", "fuzz", "storage", "e2e", "cluster", "browser", "sim", "bench"]

/** Runs the folders in that order, and all others last: all workers end at about the same time. */
class LongFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = longFirst.indexOf(relative(root, moduleId).split("/")[1]!)
      return rank === -1 ? longFirst.length : rank
    }
    // eslint-disable-next-line unicorn/no-array-sort -- a method of the sequencer, not of an array
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}

/** What `build.mjs` builds and tests import. A page's source is vite's. */
const isBuilt = (path: string) =>
  /^(?:src|bench|chaos|cluster|fuzz|test\/support)\/.*\.ts$/.test(path) &&
  !/^src\/http\/web\/|\.test\.ts$/.test(path)

/**
 * Has tests import what was built rather than sources: they test what ships, threads and child processes included, and nothing is compiled
 * again for each run. No module is loaded twice, since what is built imports nothing but what is built.
 */
const built: Plugin = {
  name: "built",
  enforce: "pre",
  resolveId(imported, importer) {
    if (importer === undefined || !imported.startsWith(".")) return undefined
    const path = relative(root, resolve(dirname(importer), imported))
    return isBuilt(path) ? join(root, "dist", path.replace(/\.ts$/, ".js")) : undefined
  }
}

const { status } = spawnSync(process.execPath, ["build.mjs"], { cwd: root, stdio: "inherit" })
if (status !== 0) throw new Error("the build failed")

export default defineConfig({
  plugins: [built],
  test: {
    server: { deps: { external: [/\/dist\/(?:src|bench|chaos|cluster|fuzz|test)\//] } },
    // A change of the sources needs a build, which belongs to the start.
    watch: false,
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/services/GlobalSetup.ts"],
    setupFiles: ["test/support/services/Worker.ts"],
    sequence: { sequencer: LongFirst },
    // As many as the cores of a small machine: what clusters of real processes promise includes times. As many from the beginning, since a pool
    // that shrinks as it ends can end a worker twice, which fails the run.
    maxWorkers: 2,
    minWorkers: 2,
    // To load what is tested again for each file took a quarter of the whole. So no file may count on being the first of its process.
    isolate: false,
    testTimeout: 30_000,
    // Generous, for a busy machine: who polls sees it at once on another.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 60_000
  }
})
