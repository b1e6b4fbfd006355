import { Effect } from "effect"
import * as Minter from "../../keys/KeyMinter.ts"
import { later, type Mutant, withFaults } from "./Mutant.ts"
import type { Ports } from "./Mutation.ts"

/** The next number of a slot, as the store has it now. */
export const nextOf = (
  { ranges }: Ports,
  { length, range }: { readonly length: number; readonly range: number }
) =>
  Effect.map(
    ranges.watermarks,
    (marks) => marks.find((mark) => mark.length === length && mark.range === range)?.next ?? 0
  )

/** What can be broken between a range's numbers and their keys. */
export const minting: ReadonlyArray<Mutant> = [
  {
    name: "watermark-late",
    text: "A range hands its numbers out before its watermark has moved durably.",
    promise: "C1",
    checker: "minted once",
    make: () => ({
      ports: (ports, process) => ({
        ranges: {
          ...ports.ranges,
          advance: (slot, options) =>
            Effect.map(nextOf(ports, slot), (first) => ({
              first,
              count: Math.min(options.count, options.size - first)
            })).pipe(Effect.zipLeft(later(process, 200, ports.ranges.advance(slot, options))))
        }
      })
    })
  },
  {
    name: "watermark-in-two-steps",
    text: "A range reads its watermark, and moves it 1 s later.",
    promise: "C1",
    checker: "minted once",
    options: (options) => ({
      ...withFaults({ move: { perMinute: 120, least_ms: 500, most_ms: 3_000 } }, { bursts: 0.2 })(options),
      nodes: 4,
      pools: 3
    }),
    make: () => ({
      ports: (ports) => ({
        ranges: {
          ...ports.ranges,
          advance: (slot, options) =>
            Effect.gen(function* () {
              const first = yield* nextOf(ports, slot)
              yield* Effect.sleep(1_000)
              const { count } = yield* ports.ranges.advance(slot, options)
              return { first, count }
            })
        }
      })
    })
  },
  {
    name: "watermark-one-short",
    text: "The watermark moves by one less than what is handed out.",
    promise: "C1",
    checker: "minted once",
    make: () => ({
      database: ({ ranges }) => ({
        ranges: {
          ...ranges,
          advance: (slot, { count, size }) =>
            Effect.map(ranges.advance(slot, { count: count - 1, size }), (block) => ({
              ...block,
              count: block.count + 1
            }))
        }
      })
    })
  },
  {
    name: "ranges-overlap",
    text: "Every second range begins where the one before it does.",
    promise: "C1",
    checker: "minted once",
    make: () => ({
      minter: (minter) => ({
        ...minter,
        mint: (length, range, first, count) => minter.mint(length, range - (range % 2), first, count)
      })
    })
  },
  {
    name: "own-secret",
    text: "Each node permutes with a secret of its own.",
    promise: "C1",
    checker: "minted once",
    make: () => ({
      minter: ({ space }, process) => Minter.make(space, new Uint8Array(16).fill(process.number + 1))
    })
  }
]
