// Runs in each of vitest's worker processes before a test file.

// When vitest itself is killed, its workers would go on with their test, and whatever the test has started with it.
// The channel to vitest closes then. (vitest replaces `process.exit` in its workers, hence the signal.)
process.once("disconnect", () => process.kill(process.pid, "SIGKILL"))
