// The examples of a document: commands and what they show, as blocks of Markdown that are marked `console`.

import { Effect, type Scope } from "effect"
import { execFile } from "node:child_process"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { keep } from "../services/Keeper.ts"

/** A command, and what it should show: empty where the document does not say. */
export interface Example {
  readonly command: string
  readonly shown: string
}

/** Where the examples expect the service. */
const documented = "http://localhost:8080"

/** The blocks of a Markdown document that are marked `console`. */
const blocks = /^```console\n([^]*?)^```$/gm

/** The examples of a Markdown document. A command begins with `$ `, and goes on behind a `\` at the end of a line. */
export const examplesOf = (markdown: string): ReadonlyArray<Example> =>
  [...markdown.matchAll(blocks)].flatMap(([, block = ""]) =>
    [...block.matchAll(/^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)/gm)].map(([, command = "", shown = ""]) => ({
      command,
      shown
    }))
  )

/** What a Markdown document has beside its examples. */
export const withoutExamples = (markdown: string): string => markdown.replaceAll(blocks, "")

const withoutSpace = (text: string) => text.replaceAll(/\s+/g, "")

/** Whether an output is as a document shows it: `…` stands for anything, and white space does not count. */
export const isAsShown = (shown: string, output: string): boolean => {
  const [first = "", ...others] = withoutSpace(shown).split("…")
  const text = withoutSpace(output)
  if (others.length === 0) return text === first
  const last = others.pop()!
  if (!text.startsWith(first) || !text.endsWith(last)) return false
  let from = first.length
  for (const part of others) {
    const at = text.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return from + last.length <= text.length
}

/** What a command comes to: all that it printed, and its exit status. */
export interface Ran {
  readonly output: string
  readonly status: number
}

const placeholder = /\b(lm|key|whk)_…/g
const secrets = /\b(lm|key|whk)_[\w-]+/g

/** Exported variables go from one command to the next. */
const inTurn = (command: string) =>
  `. ./variables; ${command}\nstatus=$?; export -p > variables; exit $status`

/**
 * Runs commands one after the other in a folder of their own. In a command `lm_…`, and the like for ids, stands for the one that was shown
 * last; at first for what is in `known`. In place of `http://localhost:8080` it asks `baseUrl`, and shows the answers with it undone.
 */
export const shell = (
  baseUrl: string,
  known: Readonly<Record<string, string>>
): Effect.Effect<(command: string) => Effect.Effect<Ran>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const folder = mkdtempSync(join(tmpdir(), "linkmint-examples-"))
    yield* keep({ commands: [], signal: "TERM", cleanup: ["rm", "-rf", folder] })
    writeFileSync(join(folder, ".curlrc"), "silent\nshow-error\nmax-time = 30\n")
    writeFileSync(join(folder, "variables"), "")
    const last = new Map(Object.entries(known))
    return (command) =>
      Effect.async((resume) => {
        const filled = command
          .replaceAll(documented, baseUrl)
          .replaceAll(placeholder, (text, kind: string) => last.get(kind) ?? text)
        const options = { cwd: folder, env: { PATH: process.env["PATH"], HOME: folder } }
        execFile("/bin/sh", ["-c", inTurn(`exec 2>&1; ${filled}`)], options, (error, stdout) => {
          for (const [secret, kind = ""] of stdout.matchAll(secrets)) last.set(kind, secret)
          const status = error === null ? 0 : Number(error.code ?? 1)
          resume(Effect.succeed({ output: stdout.replaceAll(baseUrl, documented), status }))
        })
      })
  })
