import { signal } from "@preact/signals"

/** Whether the browser has a network at all. */
export const online = signal(navigator.onLine)

addEventListener("online", () => (online.value = true))
addEventListener("offline", () => (online.value = false))
