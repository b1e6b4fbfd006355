import { signal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { type ApiError, asApiError, request } from "../api/Client.ts"
import type { Cluster } from "../api/Types.ts"
import { type Memory, observe } from "./memory.ts"

/** How it stands with the stream: nothing has come yet, it runs, it broke and is begun again, or the service refuses it. */
export type Connection =
  | { readonly state: "connecting" | "live" | "broken" }
  | { readonly state: "refused"; readonly error: ApiError }

/** What was seen so far; kept while somebody looks at other places of the page. */
export const memory = signal<Memory | undefined>(undefined)

/** See {@link Connection}. */
export const connection = signal<Connection>({ state: "connecting" })

/** An event comes each second. A stream on which nothing comes for so long is dead, though nobody has said so. */
const silenceMax_ms = 5_000

/** How soon a stream is begun again that the service has ended in another way than browsers mend by themselves. */
const retryIn_ms = 2_000

/** Beyond these, trying again makes no sense. */
const final = new Set(["forbidden", "unauthorized"])

/** Watches the cluster until the function that it gives is called. */
const watch = (): (() => void) => {
  let stream: EventSource
  let timer: ReturnType<typeof setTimeout>
  let isOver = false

  const later = (wait_ms: number, then: () => void) => {
    clearTimeout(timer)
    timer = setTimeout(then, wait_ms)
  }
  const begin = () => {
    stream = new EventSource("/api/v1/cluster/events")
    const again = () => {
      stream.close()
      connection.value = { state: memory.value === undefined ? "connecting" : "broken" }
      begin()
    }
    later(silenceMax_ms, again)
    stream.addEventListener("message", ({ data }) => {
      later(silenceMax_ms, again)
      memory.value = observe(memory.value, JSON.parse(String(data)) as Cluster)
      connection.value = { state: "live" }
    })
    stream.addEventListener("error", () => {
      if (stream.readyState !== EventSource.CLOSED) {
        connection.value = { state: memory.value === undefined ? "connecting" : "broken" }
        return
      }
      // An event source does not tell what it was answered.
      request<Cluster>("GET", "/api/v1/cluster").then(
        (picture) => {
          if (isOver) return
          memory.value = observe(memory.value, picture)
          connection.value = { state: "broken" }
          later(retryIn_ms, again)
        },
        (error: unknown) => {
          if (isOver) return
          const known = asApiError(error)
          const isFinal = final.has(known.kind) || memory.value === undefined
          connection.value = isFinal ? { state: "refused", error: known } : { state: "broken" }
          if (isFinal) clearTimeout(timer)
          else later(retryIn_ms, again)
        }
      )
    })
  }
  begin()
  return () => {
    isOver = true
    clearTimeout(timer)
    stream.close()
  }
}

/** Watches while a component is shown, and again with each `turn`. */
export const useWatching = (turn: number): void => {
  useEffect(() => {
    connection.value = { state: "connecting" }
    return watch()
  }, [turn])
}
