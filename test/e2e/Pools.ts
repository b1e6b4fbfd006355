/** How many keys a program keeps ready, as small as a test wants them. */
export interface PoolSizes {
  readonly low: number
  readonly high: number
  readonly bufferCapacity: number
}

/** The settings that say so. */
export const settingsOfPool = ({ bufferCapacity, high, low }: PoolSizes) => ({
  POOL_LOW: String(low),
  POOL_HIGH: String(high),
  BUFFER_CAPACITY: String(bufferCapacity)
})

/**
 * Keys of a refill at most, which a kill loses between their minting and their record: what the pool lacks, and it lacks no more than have left it. `taken` are the keys
 * that creates have taken since the pool was first full. How long a refill takes does not matter, so this holds on the busiest machine.
 */
export const refillMax = ({ bufferCapacity, high }: PoolSizes, taken: number): number =>
  Math.min(high, taken + bufferCapacity)
