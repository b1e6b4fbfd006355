import { useState } from "preact/hooks"
import * as Links from "../api/Links.ts"
import type { Link } from "../api/Types.ts"
import { useEvery } from "../ui/hooks/useEvery.ts"
import { usePages } from "../ui/hooks/usePages.ts"

const pageLength = 25

/** How often the numbers of visits are read again while somebody looks. */
const every_ms = 5_000

/** The visits of links by their names. */
type Visits = ReadonlyMap<string, Link["visits"]>

/** Lists links page by page, with their number, and numbers of visits that are not older than some seconds. */
export const useList = ({ archived, domain, notTag, orderBy, q, tag }: Required<Links.Filter>) => {
  const filter = { q, tag, notTag, archived, domain, orderBy }
  const list = usePages(JSON.stringify(filter), (cursor, signal) =>
    Links.list({ ...filter, total: true }, pageLength, cursor, signal)
  )
  const { cursor, state } = list
  const [visits, setVisits] = useState<Visits>(new Map())
  useEvery(
    every_ms,
    async (signal) => {
      if (state !== "loaded") return
      const { data } = await Links.list(filter, pageLength, cursor, signal)
      setVisits(new Map(data.map((link) => [Links.nameOf(link), link.visits])))
    },
    [orderBy, domain, q, tag, notTag, archived, cursor, state]
  )
  return { ...list, visitsOf: (link: Link) => visits.get(Links.nameOf(link)) ?? link.visits }
}
