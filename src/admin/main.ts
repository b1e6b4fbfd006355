import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect } from "effect"
import * as Environment from "../node/Environment.ts"
import { messageOf } from "../node/Settings.ts"
import * as Admin from "./Admin.ts"

// As in the program's `main.ts`.
process.umask(0o077)

const main = Effect.flatMap(
  Effect.tapError(Effect.suspend(Environment.provider), (error) => Console.error(messageOf(error))),
  (provider) => Effect.withConfigProvider(Admin.run(process.argv), provider)
)

NodeRuntime.runMain(main, { disableErrorReporting: true, disablePrettyLogger: true })
