import {
  digestOf,
  NotYetMade,
  type Ports,
  type Progress,
  type Rejected,
  run as runImport
} from "../../../transfer/Importing.ts"
import { ApiError } from "../api/Client.ts"
import * as Links from "../api/Links.ts"
import type { NewLink } from "../api/Types.ts"
import type { Source } from "./reading.ts"

/** Links in a request: few enough that progress can be seen, and that one is answered soon. */
const atOnce = 100

const wait_ms = 5_000

/** Lines that made nothing, of which more is known than their number: what the page can hold, and what it keeps for a run that goes on. */
const rejectedMax = { held: 20_000, kept: 500 }

/** What has become of an import so far. */
export interface Outcome {
  readonly total: number
  readonly progress: Progress
  readonly rejected: ReadonlyArray<Rejected>
  /** Why it waits, if it does: for the service, or for a quota. */
  readonly waits: "away" | "quota" | undefined
}

/** What the browser keeps of an import that is not over. */
export interface Unfinished extends Omit<Outcome, "waits"> {
  readonly id: string
  readonly title: string
}

/** Where that is kept, until the page is loaded again. */
export interface Memory {
  readonly read: () => Unfinished | undefined
  /** `undefined`: nothing is unfinished. */
  readonly write: (unfinished: Unfinished | undefined) => void
}

const isPassing = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.status === 429 || error.status === 503 || error.kind === "timeout" || error.kind === "offline")

/** Waits, but not for who has stopped the import. */
const pause = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const go = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", go)
      resolve()
    }
    const timer = setTimeout(go, wait_ms)
    signal.addEventListener("abort", go)
    if (signal.aborted) go()
  })

const urlOf = async (
  key: string,
  domain: string | undefined,
  signal: AbortSignal
): Promise<string | undefined> => {
  try {
    return (await Links.get(Links.nameOf({ key, ...(domain !== undefined && { domain }) }), signal)).url
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined
    throw error
  }
}

/** What is known of a file beside what it has: the browser does not keep the file itself. */
export const idOf = (file: Pick<File, "name" | "size" | "lastModified">, options: object): string =>
  digestOf(JSON.stringify([file.name, file.size, file.lastModified, options]))

/** Makes links, some at a time, from where an earlier run was cut off. Tells how far it is, and keeps that; ends early when aborted, with what it has. */
export const run = async (
  source: Pick<Source, "entries" | "id" | "title" | "total">,
  memory: Memory,
  onProgress: (outcome: Outcome) => void,
  signal: AbortSignal
): Promise<void> => {
  const { id, title, total } = source
  const before = memory.read()
  const isSame = before !== undefined && before.id === id
  let progress: Progress = isSame
    ? before.progress
    : { settled: 0, made: 0, present: 0, rejected: 0, base_ms: await Links.serviceTime(signal) }
  let rejected: ReadonlyArray<Rejected> = isSame ? before.rejected : []
  const tell = (waits?: Outcome["waits"]) => onProgress({ total, progress, rejected, waits })
  const keep = () =>
    memory.write(
      progress.settled < total
        ? { id, title, total, progress, rejected: rejected.slice(0, rejectedMax.kept) }
        : undefined
    )

  const ports: Ports = {
    // The service alone looks into rules and variants.
    send: async (links, idempotencyKey) =>
      (await Links.createMany(links as ReadonlyArray<NewLink>, idempotencyKey, signal)).results,
    urlOf: (key, domain) => urlOf(key, domain, signal),
    pause: async (why) => {
      tell(why)
      await pause(signal)
    },
    mayPass: isPassing,
    onSettled: (next, some) => {
      progress = next
      rejected = [...rejected, ...some].slice(0, rejectedMax.held)
      keep()
      tell()
    },
    isStopped: () => signal.aborted
  }
  // The first batch too is repeated as it was sent.
  keep()
  tell()
  try {
    await runImport(source.entries(), progress, { atOnce, ports })
  } catch (error) {
    throw error instanceof NotYetMade ? new ApiError(error.kind, error.status, error.detail) : error
  }
}
