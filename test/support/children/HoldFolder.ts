// Takes a data folder and holds it until it is killed, or says why it cannot. Arguments: the folder, and the number of the user to
// become first (all code is loaded by then, which that user need not be able to read).

import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import * as DataFolder from "../../../src/storage/nodes/DataFolder.ts"

const user = process.argv[3]
if (user !== undefined) process.setuid?.(Number(user))

const hold = Effect.gen(function* () {
  const { path } = yield* DataFolder.DataFolder
  process.stdout.write(`holding ${path}\n`)
  return yield* Effect.never
}).pipe(
  Effect.provide(DataFolder.layer(process.argv[2]!, process.pid)),
  Effect.catchAll((error) =>
    Effect.sync(() => process.stdout.write(`refused ${error._tag}: ${error.message}\n`))
  )
)

NodeRuntime.runMain(Effect.provide(hold, Layer.orDie(NodeContext.layer)))
