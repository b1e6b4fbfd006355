import { ApiError, kindOf } from "../api/Client.ts"
import * as Links from "../api/Links.ts"
import type { Bulk, Link } from "../api/Types.ts"
import type { Row, Skipped } from "./formats.ts"

/** Links in a request: few enough that progress can be seen, and that one is answered soon. */
const atOnce = 100

/** Tries of a request, and of links for which the quota was used up: that comes back each minute. */
const triesMax = 20

const wait_ms = 5_000

/** What has become of an import so far. */
export interface Outcome {
  readonly total: number
  readonly made: ReadonlyArray<Link>
  readonly failed: ReadonlyArray<Skipped>
  /** Why it waits, if it does. */
  readonly waits: string | undefined
}

type Result = Bulk["results"][number]

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
  })

const isPassing = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.status === 429 || error.status === 503 || error.kind === "timeout" || error.kind === "offline")

/** Makes links, some at a time. Tells how far it is; ends early when aborted, with what it has. */
export const run = async (
  rows: ReadonlyArray<Row>,
  onProgress: (outcome: Outcome) => void,
  signal: AbortSignal
): Promise<void> => {
  const made: Array<Link> = []
  const failed: Array<Skipped> = []
  const tell = (waits?: string) =>
    onProgress({ total: rows.length, made: [...made], failed: [...failed], waits })

  /** A request that may have been carried out is repeated under its key, which makes no link twice. */
  const send = async (batch: ReadonlyArray<Row>): Promise<ReadonlyArray<Result>> => {
    // Not `randomUUID`, which insecure contexts lack.
    const idempotencyKey = `import-${[...crypto.getRandomValues(new Uint32Array(4))].join("-")}`
    for (let attempt = 1; ; attempt++) {
      try {
        const links = batch.map(({ link }) => link)
        return (await Links.createMany(links, idempotencyKey, signal)).results
      } catch (error) {
        if (!isPassing(error) || attempt === triesMax || signal.aborted) throw error
        tell("The service cannot be reached. Going on as soon as it can.")
        await pause(signal)
      }
    }
  }

  const settle = async (batch: ReadonlyArray<Row>): Promise<void> => {
    let waiting = batch
    for (let attempt = 1; waiting.length > 0 && !signal.aborted; attempt++) {
      const results = await send(waiting)
      const refused: Array<Row> = []
      results.forEach((result, index) => {
        const row = waiting[index]!
        if ("link" in result) made.push(result.link)
        else if (kindOf(result.problem.type) === "rate-limited" && attempt < triesMax) refused.push(row)
        else failed.push({ line: row.line, text: row.link.url, reason: result.problem.detail })
      })
      waiting = refused
      tell(refused.length > 0 ? "The quota is used up for now. Going on when it comes back." : undefined)
      if (refused.length > 0) await pause(signal)
    }
  }

  tell()
  for (let from = 0; from < rows.length && !signal.aborted; from += atOnce) {
    await settle(rows.slice(from, from + atOnce))
  }
}
