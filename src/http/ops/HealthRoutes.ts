import { Effect } from "effect"
import type { OperationsOf } from "../contract/Operations.ts"
import { json } from "../exchange/Answer.ts"
import * as Readiness from "./Readiness.ts"

/** Reports whether this node runs, and whether it can create and redirect. */
export const make = Effect.map(Readiness.make, ({ answer }): OperationsOf<"health"> => ({
  live: () => Effect.sync(() => json({ status: "live" })),
  ready: () => answer
}))
