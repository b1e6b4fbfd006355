import { Command } from "@effect/platform"
import { Effect } from "effect"

/** Which commit the program was built from, with `-dirty` behind it where files were changed since; `unknown` where git cannot tell. */
export const commit = Command.make(
  "git",
  "describe",
  "--always",
  "--dirty",
  "--abbrev=40",
  "--exclude=*"
).pipe(
  Command.workingDirectory(import.meta.dirname),
  Command.string,
  Effect.map((text) => text.trim() || "unknown"),
  Effect.orElseSucceed(() => "unknown")
)
