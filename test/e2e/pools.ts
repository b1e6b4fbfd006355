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

/** Keys of a refill at most: what the pool lacks, with what left it while the one before was under way. A kill loses them between their minting and their record. */
export const refillMax = ({ bufferCapacity, high, low }: PoolSizes): number =>
  2 * (high - low) + bufferCapacity
