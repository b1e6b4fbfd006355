import { Context, Either, Layer, Redacted } from "effect"
import * as DatabaseUrl from "./DatabaseUrl.ts"

/** What a server says of itself in a new session. */
export interface ServerProof {
  /** What `initdb` drew; a standby has its primary's. `undefined` where the user may not know. */
  readonly system: string | undefined
  /** Counts promotions: each begins a timeline. */
  readonly timeline: string
}

/**
 * The servers that can be the primary, and what is known of the one that is. All connections of a process share it: what one of them learns drops
 * what the others have pooled.
 */
export class DatabaseServers extends Context.Tag("linkmint/DatabaseServers")<
  DatabaseServers,
  DatabaseServersService
>() {}

/** See {@link DatabaseServers}. */
export interface DatabaseServersService {
  /** Where they are, at least one. */
  readonly urls: ReadonlyArray<string>
  /** The URL of the server that was the primary last, or that is to be tried next. */
  readonly current: () => string
  /** The server at `url` is none to work on now: the next one is current. */
  readonly passOver: (url: string) => void
  /** Connections made in another generation are to be dropped: the primary they lead to may be none any more. */
  readonly generation: () => number
  /** All connections that are there are to be dropped. */
  readonly dropAll: () => void
  /** A server has proved to be a primary. Gives why it is not to be worked on, if so. */
  readonly proved: (url: string, proof: ServerProof) => string | undefined
  /**
   * A session of this process has the server's process `backend`. False: so has another one that is open, so that what lies between shares the server's sessions among
   * transactions, and locks, bounds and `LISTEN` would be anybody's.
   */
  readonly enter: (backend: string) => boolean
  /** That session is over. */
  readonly leave: (backend: string) => void
  /** Whether new sessions may work: not while the lock of this process's presence is lost. */
  readonly isOpen: () => boolean
  readonly setOpen: (open: boolean) => void
}

/** Of the URLs, at least one. */
export const make = (urls: ReadonlyArray<string>): DatabaseServersService => {
  let index = 0
  let generation = 0
  let open = true
  const backends = new Set<string>()
  let known: ServerProof | undefined
  const current = () => urls[index]!
  return {
    urls,
    current,
    passOver: (url) => {
      if (url === current()) index = (index + 1) % urls.length
    },
    generation: () => generation,
    dropAll: () => {
      generation++
    },
    proved: (url, proof) => {
      if (known?.system !== undefined && proof.system !== undefined && known.system !== proof.system) {
        return "another database system answers there than the one this process began with"
      }
      // What was promoted later has the higher timeline: a primary of the one before is left over.
      if (known !== undefined && proof.timeline < known.timeline) {
        return "an old primary answers there: another server has been promoted since"
      }
      if (known !== undefined && proof.timeline !== known.timeline) generation++
      known = proof
      index = Math.max(0, urls.indexOf(url))
      return undefined
    },
    enter: (backend) => {
      if (backends.has(backend)) return false
      backends.add(backend)
      return true
    },
    leave: (backend) => void backends.delete(backend),
    isOpen: () => open,
    setOpen: (isOpen) => {
      open = isOpen
    }
  }
}

/** The servers of a `DATABASE_URL`, which was checked with the settings. */
export const layer = (url: Redacted.Redacted): Layer.Layer<DatabaseServers> =>
  Layer.sync(DatabaseServers, () => make(Either.getOrThrow(DatabaseUrl.parse(Redacted.value(url)))))
