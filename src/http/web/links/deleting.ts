import { signal } from "@preact/signals"
import { asApiError } from "../api/Client.ts"
import * as Links from "../api/Links.ts"
import { fail, offer } from "../ui/Toasts.tsx"

/** How long a delete can be undone. The service deletes for good, so that it is asked only after this. */
const undoFor_ms = 8_000

const timers = new Map<string, ReturnType<typeof setTimeout>>()

/** Keys of links that are gone for who looks, and of which most still can be brought back. */
export const deleting = signal<ReadonlySet<string>>(new Set())

const bringBack = (key: string) => {
  clearTimeout(timers.get(key))
  timers.delete(key)
  deleting.value = new Set([...deleting.value].filter((other) => other !== key))
}

const remove = async (key: string) => {
  timers.delete(key)
  try {
    await Links.remove(key)
  } catch (error) {
    bringBack(key)
    fail(asApiError(error))
  }
}

/** Takes a link out of sight, and deletes it unless that is undone in time. */
export const removeSoon = (key: string): void => {
  deleting.value = new Set([...deleting.value, key])
  timers.set(
    key,
    setTimeout(() => void remove(key), undoFor_ms)
  )
  offer(
    `/${key} is deleted for good in ${undoFor_ms / 1000} seconds.`,
    { name: "Undo", run: () => bringBack(key) },
    undoFor_ms
  )
}

// Who leaves has not undone it.
addEventListener("pagehide", () => {
  for (const [key, timer] of timers) {
    clearTimeout(timer)
    Links.removeWhileLeaving(key)
  }
  timers.clear()
})
