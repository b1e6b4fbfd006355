// The examples of a document: commands and what they show, as blocks of Markdown that are marked `console`.

import { Effect, type Scope } from "effect"
import { execFile } from "node:child_process"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { keep } from "../support/services/Keeper.ts"

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

/** Files that a Markdown document has: blocks that are marked with a language and a name. */
const files = /^```\w+ (\S+)\n([^]*?)^```$/gm

/** The files of a Markdown document by their names. */
export const filesOf = (markdown: string): Readonly<Record<string, string>> =>
  Object.fromEntries([...markdown.matchAll(files)].map(([, name = "", text = ""]) => [name, text]))

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

const placeholder = /\b(lm|key|whk|whsec)_…/g
const secrets = /\b(lm|key|whk)_[\w-]+|\b(whsec)_[\w+/=]+/g

/** Exported variables go from one command to the next. */
const inTurn = (command: string) =>
  `. ./variables; ${command}\nstatus=$?; export -p > variables; exit $status`

/** What differs from what a document says. */
export interface ShellOptions {
  /** What stands at first for `lm_…`, and the like for ids. */
  readonly known: Readonly<Record<string, string>>
  /** Texts, such as a port, in whose place there are others. */
  readonly instead?: Readonly<Record<string, string>>
  /** Files that commands find. */
  readonly files?: Readonly<Record<string, string>>
}

/**
 * Runs commands one after the other in a folder of their own. In a command `lm_…`, and the like for ids, stands for the one that was shown
 * last. In place of `http://localhost:8080` it asks `baseUrl`, and shows the answers with it undone. A command that ends with `&` runs until the scope closes.
 */
export const shell = (
  baseUrl: string,
  { files: written = {}, instead = {}, known }: ShellOptions
): Effect.Effect<(command: string) => Effect.Effect<Ran, never, Scope.Scope>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const replacing = Object.entries({ [documented]: baseUrl, ...instead })
    const fill = (text: string) => replacing.reduce((filled, [from, to]) => filled.replaceAll(from, to), text)
    const restore = (text: string) =>
      replacing.reduce((filled, [from, to]) => filled.replaceAll(to, from), text)
    const folder = mkdtempSync(join(tmpdir(), "linkmint-examples-"))
    yield* keep({ commands: [], signal: "TERM", cleanup: ["rm", "-rf", folder] })
    writeFileSync(join(folder, ".curlrc"), "silent\nshow-error\nmax-time = 30\n")
    writeFileSync(join(folder, "variables"), "")
    for (const [name, text] of Object.entries(written)) writeFileSync(join(folder, name), fill(text))
    const last = new Map(Object.entries(known))
    const env = { PATH: process.env["PATH"], HOME: folder }
    const run = (filled: string) =>
      Effect.async<Ran>((resume) => {
        const options = { cwd: folder, env }
        execFile("/bin/sh", ["-c", inTurn(`exec 2>&1; ${filled}`)], options, (error, stdout) => {
          for (const [secret, kind, other = ""] of stdout.matchAll(secrets)) last.set(kind ?? other, secret)
          const status = error === null ? 0 : Number(error.code ?? 1)
          resume(Effect.succeed({ output: restore(stdout), status }))
        })
      })
    const runOn = (filled: string) =>
      keep({
        commands: [["/bin/sh", "-c", `cd ${folder} && . ./variables && exec env ${filled}`]],
        signal: "TERM",
        cleanup: ["true"],
        env
      }).pipe(Effect.as<Ran>({ output: "", status: 0 }))
    return (command) =>
      Effect.suspend(() => {
        const filled = fill(command).replaceAll(placeholder, (text, kind: string) => last.get(kind) ?? text)
        return filled.endsWith("&") ? runOn(filled.slice(0, -1)) : run(filled)
      })
  })
