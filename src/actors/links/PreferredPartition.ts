/** Messages that are under way before creates gather for the next one. */
const messagesMax = 2

/** How long creates gather behind a message that was not answered, in milliseconds: an owner that is slow holds up few of them. */
const gatherMax_ms = 10

/**
 * Chooses the partition of the next new key, so that many links go in few messages: any key will do for a new link, and with keys as they come a busy node
 * would send each owner a message for every other link. While messages are under way, keys are of the partition that was sent one last, where their
 * links wait together for the next message.
 */
export class PreferredPartition {
  /** Partitions that were sent something and have not answered. */
  readonly #busy = new Set<number>()
  #latest = 0
  #sentAt = 0

  /** Something is sent to a partition at `now` (of `monotonicNow_ms`). */
  begin(partition: number, now: number) {
    this.#busy.add(partition)
    this.#latest = partition
    this.#sentAt = now
  }

  /** The partition has answered. */
  end(partition: number) {
    this.#busy.delete(partition)
  }

  /** Whether a partition was sent something. */
  isBusy(partition: number): boolean {
    return this.#busy.has(partition)
  }

  /** The partition that the next key should be of at `now`; `undefined` where any will do. */
  next(now: number): number | undefined {
    const isGathering = this.#busy.size >= messagesMax && now - this.#sentAt <= gatherMax_ms
    return isGathering ? this.#latest : undefined
  }
}
