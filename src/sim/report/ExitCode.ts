/** With which statuses `npm run sim` ends, apart from broken promises. */
export const exitCode = {
  kept: 0,
  unexpected: 1,
  usage: 2,
  crashed: 3,
  nothingToShrink: 4,
  notWritten: 5,
  several: 10,
  other: 19,
  interrupted: 130
} as const

/** The status of a run that broke the promise of one checker: 10 and the promise's number (C1 to C8). */
const ofCheckers: Readonly<Record<string, number>> = {
  "unique binding": 11,
  quarantine: 11,
  durability: 12,
  "read your writes": 13,
  freshness: 14,
  "exact visits": 15,
  ledger: 16,
  idempotency: 17,
  "reused links": 17,
  "repeated deletes": 17,
  liveness: 18,
  shutdown: 18
}

/** The status for the names of checkers that found something. */
export const codeOf = (names: Iterable<string>): number => {
  const codes = new Set(Array.from(names, (name) => ofCheckers[name] ?? exitCode.other))
  const [first] = codes
  return first === undefined ? exitCode.kept : codes.size > 1 ? exitCode.several : first
}

/** What `--help` says of them. */
export const told: ReadonlyArray<readonly [code: number, meaning: string]> = [
  [exitCode.kept, "every promise was kept"],
  [exitCode.unexpected, "something unexpected"],
  [exitCode.usage, "the arguments are not usable"],
  [exitCode.crashed, "a simulation itself crashed"],
  [exitCode.nothingToShrink, "--shrink: the seed breaks no promise"],
  [exitCode.notWritten, "a report could not be written"],
  [exitCode.several, "several promises were broken"],
  ...Array.from(new Set(Object.values(ofCheckers)), (code) => {
    const names = Object.keys(ofCheckers).filter((name) => ofCheckers[name] === code)
    return [code, `broken: ${names.join(", ")}`] as const
  }),
  [exitCode.other, "broken: what any other checker judges"],
  [exitCode.interrupted, "interrupted"]
]
