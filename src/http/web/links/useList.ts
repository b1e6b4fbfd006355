import { useState } from "preact/hooks"
import * as Links from "../api/Links.ts"
import { useLoaded } from "../ui/useLoaded.ts"

const pageLength = 25

/** Lists links page by page. Pages have no numbers, so that the cursors of those before are remembered for the way back. */
export const useList = ({ orderBy, q, tag }: Required<Links.Filter>) => {
  const filter = `${orderBy} ${tag} ${q}`
  const [place, setPlace] = useState<{ readonly filter: string; readonly cursors: ReadonlyArray<string> }>({
    filter,
    cursors: []
  })
  // Another list begins at its beginning.
  const cursors = place.filter === filter ? place.cursors : []
  const cursor = cursors.at(-1) ?? null
  const loaded = useLoaded(
    (signal) => Links.list({ q, tag, orderBy }, pageLength, cursor, signal),
    [filter, cursor]
  )
  const next = loaded.state === "loaded" ? loaded.value.nextCursor : null
  return {
    ...loaded,
    forth: next === null ? undefined : () => setPlace({ filter, cursors: [...cursors, next] }),
    back: cursors.length === 0 ? undefined : () => setPlace({ filter, cursors: cursors.slice(0, -1) })
  }
}
