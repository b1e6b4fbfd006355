import { useEffect } from "preact/hooks"
import { online } from "../../app/Online.ts"

/** Looks again and again while the page is seen and has a network, also from the beginning when `inputs` change. What fails is tried again at the next turn. */
export const useEvery = (
  every_ms: number,
  look: (signal: AbortSignal) => Promise<void>,
  inputs: ReadonlyArray<unknown>
): void =>
  useEffect(() => {
    const abort = new AbortController()
    const timer = setInterval(() => {
      if (!document.hidden && online.value) look(abort.signal).catch(() => {})
    }, every_ms)
    return () => {
      clearInterval(timer)
      abort.abort()
    }
  }, inputs)
