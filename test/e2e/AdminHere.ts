// The commands of `npm run admin` in this process: its start takes longer than most of them.

import { ConfigProvider, Console, Effect, Exit } from "effect"
import { format } from "node:util"
import * as Admin from "../../src/admin/Admin.ts"
import type { Variables } from "./Program.ts"

/** What a command comes to: its exit code, and all that it printed. */
export interface Ran {
  readonly code: number | null
  readonly output: string
}

/** Runs a command to its end, as `dist/admin.js` does with these variables alone. */
export const adminHere = (variables: Variables, ...args: ReadonlyArray<string>): Effect.Effect<Ran> =>
  Effect.gen(function* () {
    let output = ""
    const print = (...said: ReadonlyArray<unknown>) => {
      output += `${format(...said)}\n`
    }
    const console = yield* Console.consoleWith(Effect.succeed)
    const printing = (...said: ReadonlyArray<unknown>) => Effect.sync(() => print(...said))
    const given = Object.entries(variables).flatMap(([name, value]): Array<[string, string]> =>
      value === undefined ? [] : [[name, value]]
    )
    const exit = yield* Admin.run([process.execPath, "dist/admin.js", ...args]).pipe(
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(given))),
      Effect.withConsole({
        ...console,
        log: printing,
        error: printing,
        unsafe: { ...console.unsafe, log: print, error: print }
      }),
      Effect.exit
    )
    return { code: Exit.isSuccess(exit) ? 0 : 1, output }
  })
