import { signal } from "@preact/signals"
import { asApiError } from "../api/Client.ts"
import * as Links from "../api/Links.ts"
import { counted, fill } from "../language/fill.tsx"
import { fail, offer } from "../ui/Toasts.tsx"
import { words } from "./words.ts"

/** How long a delete can be undone. The service deletes for good, so that it is asked only after this. */
const undoFor_ms = 8_000

/** Deletes that wait: names of links in the order in which they are to be deleted, by their timers. */
const waiting = new Map<ReturnType<typeof setTimeout>, ReadonlyArray<string>>()

/** Names of links that are gone for who looks, and of which most still can be brought back. */
export const deleting = signal<ReadonlySet<string>>(new Set())

const bringBack = (keys: ReadonlyArray<string>) => {
  deleting.value = new Set([...deleting.value].filter((key) => !keys.includes(key)))
}

/** Deletes one after the other. Those after one that cannot be deleted are tried as well, but its fault is told once. */
const remove = async (keys: ReadonlyArray<string>) => {
  let fault: unknown
  for (const key of keys) {
    try {
      await Links.remove(key)
    } catch (error) {
      bringBack([key])
      fault ??= error
    }
  }
  if (fault !== undefined) fail(asApiError(fault))
}

/** Takes links out of sight, and deletes them unless that is undone in time. */
export const removeSoon = (keys: ReadonlyArray<string>): void => {
  deleting.value = new Set([...deleting.value, ...keys])
  const timer = setTimeout(() => {
    waiting.delete(timer)
    void remove(keys)
  }, undoFor_ms)
  waiting.set(timer, keys)
  const t = words()
  const seconds = undoFor_ms / 1000
  const text =
    keys.length === 1
      ? fill(t.deletedSoon, { key: keys[0]!.split("@")[0]!, seconds })
      : counted(t.manyDeletedSoon, keys.length, { seconds })
  const undo = () => {
    clearTimeout(timer)
    waiting.delete(timer)
    bringBack(keys)
  }
  offer(text, { name: t.undo, run: undo }, undoFor_ms)
}

// Who leaves has not undone it.
addEventListener("pagehide", () => {
  for (const [timer, keys] of waiting) {
    clearTimeout(timer)
    keys.forEach(Links.removeWhileLeaving)
  }
  waiting.clear()
})
