import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import type { DeploymentStore } from "../../../src/storage/nodes/DeploymentStore.ts"
import type { Open } from "../../support/Stores.ts"

const awkward = {
  "the empty string": "",
  "quotes and placeholders": 'it\'s "quoted" \\ %s $1 ? :name',
  "other scripts and control characters": "zażółć 🍃\n\t\u2028",
  "10,000 characters": "x".repeat(10_000)
}

/** The laws of `DeploymentStore`, as tests of one backend. */
export const deploymentStoreLaws = (title: string, open: Open<DeploymentStore["Type"]>): void => {
  describe(title, () => {
    it.scopedLive("decides a name as the first value it is asked for, for good", () =>
      Effect.gen(function* () {
        const store = yield* yield* open
        expect(yield* store.decide("fingerprint", "first")).toBe("first")
        expect(yield* store.decide("fingerprint", "second")).toBe("first")
        expect(yield* store.decide("fingerprint", "first")).toBe("first")
      })
    )

    it.scopedLive("decides each name by itself; names differ by case alone", () =>
      Effect.gen(function* () {
        const store = yield* yield* open
        expect(yield* store.decide("secret", "a")).toBe("a")
        expect(yield* store.decide("Secret", "b")).toBe("b")
        expect(yield* store.decide("secret ", "c")).toBe("c")
        expect(yield* store.decide("secret", "d")).toBe("a")
      })
    )

    for (const [name, value] of Object.entries(awkward)) {
      it.scopedLive(`gives a value back to the letter: ${name}`, () =>
        Effect.gen(function* () {
          const store = yield* yield* open
          expect(yield* store.decide(`name of ${value}`, value)).toBe(value)
          expect(yield* store.decide(`name of ${value}`, "other")).toBe(value)
        })
      )
    }

    it.scopedLive("tells a decision to a client that comes later", () =>
      Effect.gen(function* () {
        const client = yield* open
        yield* Effect.scoped(Effect.flatMap(client, (store) => store.decide("fingerprint", "first")))
        const later = yield* client
        expect(yield* later.decide("fingerprint", "second")).toBe("first")
      })
    )

    it.scopedLive("lets one of many win who decide at once, and tells all of them its value", () =>
      Effect.gen(function* () {
        const client = yield* open
        const stores = yield* Effect.all([client, client, client])
        const rounds = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, round) => `name ${round}`),
          (name) =>
            Effect.all(
              stores.flatMap((store, index) =>
                Array.from({ length: 4 }, (_, fiber) => store.decide(name, `${index}/${fiber}`))
              ),
              { concurrency: "unbounded" }
            )
        )
        for (const answers of rounds) expect(new Set(answers).size).toBe(1)
      })
    )
  })
}
