// JSON lines, read a piece at a time, and the lists that other services' APIs answer, read whole.

import { Unreadable } from "./Unreadable.ts"
import type { EntryMessage } from "./Messages.ts"

/** A value of a file, or why it is none, and its line. Of a list that is read whole, `line` is its place, from 1 on. */
export interface JsonRecord {
  readonly line: number
  readonly json: unknown
  readonly fault?: EntryMessage
}

/** Characters of a line, and of a file that is read whole, at most. */
const lineLengthMax = 1_000_000
const wholeLengthMax = 64 * 1024 * 1024

const parsed = (text: string): { readonly json: unknown } | undefined => {
  try {
    return { json: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

const isObject = (json: unknown): json is Readonly<Record<string, unknown>> =>
  typeof json === "object" && json !== null && !Array.isArray(json)

/** The list that a document is or has: `[…]`, `{"data": […]}`, `{"shortUrls": {"data": […]}}`, `{"links": […]}`. */
const listIn = (json: unknown, depth = 2): ReadonlyArray<unknown> | undefined => {
  if (Array.isArray(json)) return json as ReadonlyArray<unknown>
  if (!isObject(json) || depth === 0) return undefined
  for (const name of ["data", "shortUrls", "links", "result", "results"]) {
    const list = listIn(json[name], depth - 1)
    if (list !== undefined) return list
  }
  return undefined
}

/** Whether what is no document has one value a line behind a first one that is broken. What a line opens that is a part of a document is a list or an object. */
const hasLinesBehind = (text: string): boolean => {
  const [first = "", second = ""] = text.trimStart().split("\n", 2)
  return !/[[{]\s*$/.test(first) && isObject(parsed(second)?.json)
}

/** Reads JSON lines, or a document that is a list or has one, of 64 MiB at most. */
export async function* readJson(pieces: AsyncIterable<string>): AsyncGenerator<JsonRecord> {
  let kind: "unknown" | "lines" | "whole" = "unknown"
  let pending = ""
  let line = 0

  const recordOf = (text: string): ReadonlyArray<JsonRecord> => {
    line++
    if (text.trim() === "") return []
    const value = parsed(text)
    return [value === undefined ? { line, json: undefined, fault: "is not JSON" } : { line, ...value }]
  }

  for await (const piece of pieces) {
    pending += pending === "" && line === 0 ? piece.replace(/^\uFEFF/, "") : piece
    if (kind === "unknown") {
      const start = pending.trimStart()
      const end = start.indexOf("\n")
      if (start === "" || (end === -1 && start.length < lineLengthMax && !start.startsWith("["))) continue
      const first = start.startsWith("[") || end === -1 ? undefined : parsed(start.slice(0, end))
      kind = first !== undefined && listIn(first.json) === undefined ? "lines" : "whole"
    }
    if (kind === "whole") {
      if (pending.length > wholeLengthMax) {
        throw new Unreadable(
          1,
          "a JSON document may have 64 MiB; write one object a line instead (jq -c '.[]')"
        )
      }
      continue
    }
    const lines = pending.split("\n")
    pending = lines.pop()!
    if (pending.length > lineLengthMax) throw new Unreadable(line + 1, "the line is too long")
    for (const text of lines) yield* recordOf(text)
  }
  if (kind === "lines") {
    yield* recordOf(pending)
    return
  }
  if (pending.trim() === "") return
  const document = parsed(pending)
  if (document === undefined && hasLinesBehind(pending)) {
    for (const text of pending.split("\n")) yield* recordOf(text)
    return
  }
  if (document === undefined) throw new Unreadable(1, "this is not JSON")
  const list = listIn(document.json)
  if (list === undefined && !isObject(document.json)) throw new Unreadable(1, "there is no list of links")
  for (const [index, json] of (list ?? [document.json]).entries()) yield { line: index + 1, json }
}
