import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/services/globalSetup.ts"],
    setupFiles: ["test/services/worker.ts"],
    // Two cores: real servers and child processes run beside the tests.
    maxWorkers: 2,
    minWorkers: 1,
    testTimeout: 30_000,
    hookTimeout: 60_000
  }
})
