import { useEffect, useState } from "preact/hooks"
import { ApiError } from "../api/Client.ts"
import * as Links from "../api/Links.ts"

const every_ms = 2_000

/** After so long nobody waits for the next visit. */
const longest_ms = 10 * 60_000

/** How often a link was visited, asked for while somebody looks; `undefined` until that is known, `"ended"` once it leads nowhere. */
export const useVisits = (key: string, watches: boolean): number | "ended" | undefined => {
  const [visits, setVisits] = useState<number | "ended">()
  useEffect(() => {
    const abort = new AbortController()
    const since = Date.now()
    const ask = async () => {
      if (document.hidden) return
      try {
        setVisits((await Links.preview(key, abort.signal)).visits)
      } catch (error) {
        if (!(error instanceof ApiError) || (error.status !== 404 && error.status !== 410)) return
        setVisits("ended")
        clearInterval(timer)
      }
    }
    const timer = setInterval(() => {
      if (!watches || Date.now() - since > longest_ms) clearInterval(timer)
      else void ask()
    }, every_ms)
    const look = () => void ask()
    document.addEventListener("visibilitychange", look)
    void ask()
    return () => {
      abort.abort()
      clearInterval(timer)
      document.removeEventListener("visibilitychange", look)
    }
  }, [key, watches])
  return visits
}
