// Shuts down for ever. Argument: how long it may, in milliseconds.

import { NodeRuntime } from "@effect/platform-node"
import { Duration, Effect } from "effect"
import * as Signals from "../../../src/terminal/Signals.ts"

NodeRuntime.runMain(
  Effect.acquireRelease(
    Effect.sync(() => process.stdout.write("running\n")),
    () => Effect.never
  ).pipe(
    Effect.zipRight(Effect.never),
    Effect.scoped,
    Signals.handling({ isImpatient: true, max: Duration.millis(Number(process.argv[2])) })
  )
)
