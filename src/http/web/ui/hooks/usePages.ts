import { cursorsBefore, go, here } from "../../app/Router.ts"
import { me } from "../../app/Session.ts"
import { useLoaded } from "./useLoaded.ts"

/** A page of a list. */
interface Page {
  readonly nextCursor: string | null
}

/** Pages that are kept, so that the way back to one shows it at once. */
const keptMax = 16
const kept = new Map<string, Page>()

const keep = (name: string, page: Page) => {
  kept.delete(name)
  kept.set(name, page)
  if (kept.size > keptMax) kept.delete(kept.keys().next().value!)
}

/** Cursors that an entry of the history has at most. */
const cursorsMax = 200

/** The address of another page of the list that is shown; `null` is the first one. */
const pathOf = (cursor: string | null): string => {
  const { pathname, searchParams } = here.value
  const query = new URLSearchParams(searchParams)
  if (cursor === null) query.delete("cursor")
  else query.set("cursor", cursor)
  return query.size === 0 ? pathname : `${pathname}?${query}`
}

/**
 * Shows a list page by page. The page's cursor is in the address. Pages have no numbers, so the cursors of those before are kept with the history's
 * entry. Where an address was opened that has none, the way back leads to the first page. Another `list`, by its name, is loaded from its beginning.
 */
export const usePages = <A extends Page>(
  list: string,
  load: (cursor: string | null, signal: AbortSignal) => Promise<A>
) => {
  const cursor = here.value.searchParams.get("cursor")
  const before = cursorsBefore()
  const name = `${me.value?.id} ${here.value.pathname} ${list} ${cursor}`
  const loaded = useLoaded(
    async (signal) => {
      const page = await load(cursor, signal)
      keep(name, page)
      return page
    },
    [name]
  )
  const page = loaded.state === "loaded" ? loaded.value : (kept.get(name) as A | undefined)
  const shown =
    loaded.state === "loading" && page ? { ...loaded, state: "loaded" as const, value: page } : loaded
  const next = page?.nextCursor ?? null
  return {
    ...shown,
    cursor,
    forth:
      next === null
        ? undefined
        : () => go(pathOf(next), { cursors: [...(before ?? []), cursor ?? ""].slice(-cursorsMax) }),
    back:
      cursor === null
        ? undefined
        : () => go(pathOf(before?.at(-1) || null), { cursors: before?.slice(0, -1) ?? [] }),
    /** Whether the way back leads to the first page, since nobody knows the one before. */
    isBackToFirst: (before ?? []).length === 0
  }
}
