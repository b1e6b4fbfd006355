import { useEffect, useState } from "preact/hooks"
import { ApiError } from "../api/Client.ts"
import * as Links from "../api/Links.ts"

const every_ms = 2_000

/** After so long nobody waits for the next visit. */
const longest_ms = 10 * 60_000

/** Previews of further domains are of another origin. Only who is signed in makes links there, and may read them. */
const visitsOf = async (name: string, signal: AbortSignal): Promise<number> =>
  name.includes("@")
    ? (await Links.get(name, signal)).visits.total
    : (await Links.preview(name, signal)).visits

/** How often a link was visited, by its name, asked for while somebody looks; `undefined` until that is known, `"ended"` once it leads nowhere. */
export const useVisits = (name: string, watches: boolean): number | "ended" | undefined => {
  const [visits, setVisits] = useState<number | "ended">()
  useEffect(() => {
    const abort = new AbortController()
    const since = Date.now()
    const ask = async () => {
      if (document.hidden) return
      try {
        setVisits(await visitsOf(name, abort.signal))
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
  }, [name, watches])
  return visits
}
