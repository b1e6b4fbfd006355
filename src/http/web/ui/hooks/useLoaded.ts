import { useCallback, useEffect, useState } from "preact/hooks"
import { type ApiError, asApiError } from "../../api/Client.ts"

/** What was asked for: under way, failed, or there. */
export type Loaded<A> =
  | { readonly state: "loading" }
  | { readonly state: "failed"; readonly error: ApiError }
  | { readonly state: "loaded"; readonly value: A }

/** Loads something when it is first shown, when `inputs` change, and when told to `reload`. What comes too late is left aside. */
export const useLoaded = <A>(load: (signal: AbortSignal) => Promise<A>, inputs: ReadonlyArray<unknown>) => {
  const [turn, setTurn] = useState(0)
  const [loaded, setLoaded] = useState<Loaded<A>>({ state: "loading" })
  useEffect(() => {
    const abort = new AbortController()
    setLoaded({ state: "loading" })
    load(abort.signal).then(
      (value) => {
        if (!abort.signal.aborted) setLoaded({ state: "loaded", value })
      },
      (error: unknown) => {
        if (!abort.signal.aborted) setLoaded({ state: "failed", error: asApiError(error) })
      }
    )
    return () => abort.abort()
  }, [...inputs, turn])
  const reload = useCallback(() => setTurn((before) => before + 1), [])
  return { ...loaded, reload }
}
