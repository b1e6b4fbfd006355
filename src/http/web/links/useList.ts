import * as Links from "../api/Links.ts"
import { usePages } from "../ui/usePages.ts"

const pageLength = 25

/** Lists links page by page. */
export const useList = ({ orderBy, q, tag }: Required<Links.Filter>) =>
  usePages(`${orderBy} ${tag} ${q}`, (cursor, signal) =>
    Links.list({ q, tag, orderBy }, pageLength, cursor, signal)
  )
