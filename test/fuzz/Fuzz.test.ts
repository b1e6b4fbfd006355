// A short form of `npm run fuzz` on the real program. Times are not judged here: tests share the machine.

import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { parse } from "../../fuzz/Arguments.ts"
import { livesOf } from "../../fuzz/Fuzz.ts"
import type { Report } from "../../fuzz/Report.ts"
import { run } from "../e2e/Program.ts"
import { describePostgres, freshDatabase } from "../support/services/postgres/Postgres.ts"

/** The same requests each time, unless `TEST_SEED` says otherwise. */
const seed = process.env["TEST_SEED"] ?? "1"

const fuzz = (...args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const times = ["--hang", "20000", "--stall", "5000"]
    const program = yield* run(process.execPath, ["dist/fuzz/main.js", "--seed", seed, ...times, ...args], {})
    const { code } = yield* program.ended
    const output = program.output()
    const line = /^\{"seed".*\}$/m.exec(output)?.[0]
    expect(code, output.replace(line ?? "", "")).toBe(0)
    return JSON.parse(line!) as Report
  })

describe(`whatever is sent to the running program (seed ${seed}),`, () => {
  it.scopedLive(
    "it answers as its contract says, stores nothing that it refuses, and takes little memory",
    () =>
      Effect.gen(function* () {
        const { lives } = yield* fuzz("--requests", "2000")
        expect(lives.map(({ cases, hasLimits }) => [cases, hasLimits])).toEqual([
          [1_600, false],
          [400, true]
        ])
        // Among the requests were good ones to most operations, as chance will have it. There is no dead letter before a day is over.
        const isGood = (of: object) => Object.keys(of).some((status) => Number(status) < 400)
        const refused = Object.entries(lives[0]!.statuses).filter(([, of]) => !isGood(of))
        expect(refused.length, refused.map(([id]) => id).join(", ")).toBeLessThan(7)
      }),
    240_000
  )
})

describePostgres(`on PostgreSQL, whatever is sent to the running program (seed ${seed}),`, () => {
  it.scopedLive(
    "it answers as its contract says",
    () =>
      Effect.gen(function* () {
        const database = yield* freshDatabase
        const { lives } = yield* fuzz("--requests", "700", "--limits", "without", "--database", database)
        expect(lives.map(({ cases }) => cases)).toEqual([700])
      }),
    240_000
  )
})

describe("the arguments of npm run fuzz", () => {
  const read = (...args: ReadonlyArray<string>) => parse(args, 7)

  it("say how many requests, which, and how long", () => {
    expect(read()).toMatchObject({ right: { requests: 20_000, minutes: 60, seed: 7, limits: "part" } })
    expect(read("--requests", "5", "--seed", "42", "--minutes", "0.5")).toMatchObject({
      right: { requests: 5, seed: 42, minutes: 0.5 }
    })
    expect(read("--help")).toMatchObject({ right: "help" })
  })

  it("are refused where they are not usable", () => {
    expect(read("--requests", "0")).toMatchObject({
      left: `--requests must be a number from 1 to 10000000, not "0"`
    })
    expect(read("--limits", "some")).toMatchObject({
      left: `--limits must be one of part, with, without, not "some"`
    })
    expect(read("--colour")).toMatchObject({ left: expect.stringMatching(/Unknown option '--colour'/) })
  })

  it("have a fifth of the requests sent under default limits, and the service started anew for each 10,000", () => {
    expect(livesOf({ requests: 100_000, limits: "part" })).toEqual([
      ...Array.from({ length: 8 }, () => ({ requests: 10_000, hasLimits: false })),
      ...Array.from({ length: 2 }, () => ({ requests: 10_000, hasLimits: true }))
    ])
    expect(livesOf({ requests: 500, limits: "with" })).toEqual([{ requests: 500, hasLimits: true }])
  })
})
