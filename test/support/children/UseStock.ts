// Fills stocks, takes from them and closes the batches that it has taken, until it is killed; tells of each step on a line of its own: the store's number, what was
// done, and with what. Argument: the stores, as JSON.

import { NodeContext } from "@effect/platform-node"
import { Effect } from "effect"
import { fromStrings, toStrings } from "../../../src/keys/PackedKeys.ts"
import { numbered } from "../samples/SomeKeys.ts"
import { adopted, opened, type Place, taken } from "../StockPlaces.ts"

const places = JSON.parse(process.argv[2]!) as ReadonlyArray<Place>

const use = (place: Place, number: number) =>
  Effect.gen(function* () {
    const tell = (what: string, text: string) =>
      Effect.sync(() => void process.stdout.write(`${number} ${what} ${text}\n`))
    const stock = yield* opened(place)
    const claim = yield* stock.claim(1)
    for (let step = 0; ; step++) {
      const name = `${place.kind[0]}${claim.epoch}-${step}`
      yield* tell("fills", name)
      yield* stock.fill(fromStrings(numbered(`${name}-`, 25)))
      yield* tell("filled", name)
      yield* stock.adopt(adopted)
      // SQLite answers at once, and the key file needs turns of the event loop as well.
      yield* Effect.promise(() => new Promise(setImmediate))
      for (const sequence of [2 * step, 2 * step + 1]) {
        const keys = yield* stock.take({ ...claim, sequence }, taken)
        // As if they had been pushed: from now on the pool alone answers for them.
        yield* tell("took", `${claim.epoch}/${sequence} ${toStrings(keys).join(" ")}`)
        yield* stock.close(claim, [{ epoch: claim.epoch, sequence }])
      }
    }
  }).pipe(Effect.scoped, Effect.provide(NodeContext.layer))

await Effect.runPromise(Effect.forEach(places, use, { concurrency: "unbounded", discard: true }))
