/** Microseconds in a millisecond: virtual time is counted in microseconds. */
export const ms_us = 1_000

/** Microseconds in a second. */
export const s_us = 1_000_000
