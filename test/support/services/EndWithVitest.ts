let isBound = false

/**
 * Ends this worker process when vitest itself is killed: else it would go on with its test, and whatever the test has started with it. The channel
 * to vitest closes then. (vitest replaces `process.exit` in its workers, hence the signal.)
 */
export const endWithVitest = (): void => {
  if (!isBound) process.once("disconnect", () => process.kill(process.pid, "SIGKILL"))
  isBound = true
}
