import { useState } from "preact/hooks"
import { useLoaded } from "./useLoaded.ts"

/** A page of a list. */
interface Page {
  readonly nextCursor: string | null
}

/**
 * Shows a list page by page. Pages have no numbers, so that the cursors of those before are remembered for the way back. Another `list`, by its name, begins at its beginning.
 */
export const usePages = <A extends Page>(
  list: string,
  load: (cursor: string | null, signal: AbortSignal) => Promise<A>
) => {
  const [place, setPlace] = useState<{ readonly list: string; readonly cursors: ReadonlyArray<string> }>({
    list,
    cursors: []
  })
  const cursors = place.list === list ? place.cursors : []
  const cursor = cursors.at(-1) ?? null
  const loaded = useLoaded((signal) => load(cursor, signal), [list, cursor])
  const next = loaded.state === "loaded" ? loaded.value.nextCursor : null
  return {
    ...loaded,
    forth: next === null ? undefined : () => setPlace({ list, cursors: [...cursors, next] }),
    back: cursors.length === 0 ? undefined : () => setPlace({ list, cursors: cursors.slice(0, -1) })
  }
}
