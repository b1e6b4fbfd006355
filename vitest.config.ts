import { relative } from "node:path"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Folders of tests that take long, in the order in which they begin: the longest first, so that it is not left over in the end, and beside it none that need the cores for themselves. */
const longFirst = ["chaos", "storage", "e2e", "cluster", "browser", "sim", "bench"]

/** Runs the folders in that order, and all others last: two workers end at about the same time. */
class LongFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = longFirst.indexOf(relative(import.meta.dirname, moduleId).split("/")[1]!)
      return rank === -1 ? longFirst.length : rank
    }
    // eslint-disable-next-line unicorn/no-array-sort -- a method of the sequencer, not of an array
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b))
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/services/globalSetup.ts"],
    setupFiles: ["test/services/worker.ts"],
    sequence: { sequencer: LongFirst },
    // Two cores: real servers and child processes run beside the tests.
    maxWorkers: 2,
    minWorkers: 1,
    testTimeout: 30_000,
    hookTimeout: 60_000
  }
})
