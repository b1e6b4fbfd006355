/**
 * Options of an `LRUCache` for at most `count` entries, which takes memory as it fills. With its `max`, room for all of them is laid out when it is made,
 * which is slow where nodes come and go, as in the simulation. It is for entries whose size has a small bound of its own.
 */
export const atMost = (count: number) => ({ maxSize: count, sizeCalculation: () => 1 })
