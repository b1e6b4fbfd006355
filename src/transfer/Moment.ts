// @effect-diagnostics globalDate:off globalDateInEffect:off
// The page has no Effect, whose DateTime is used elsewhere.

/** A moment in milliseconds since 1970 as RFC 3339 has it, in UTC. */
export const formatMoment = (moment_ms: number): string => new Date(moment_ms).toISOString()
