/** The shares of all visits from which on a country has the next shade. */
export const bounds = [0, 0.01, 0.05, 0.15, 0.4] as const

/** The shade of a share of all visits, from 0 for the least; `undefined` where there are none. */
export const shadeOf = (share: number): number | undefined =>
  share <= 0 ? undefined : bounds.findLastIndex((bound) => share >= bound)
