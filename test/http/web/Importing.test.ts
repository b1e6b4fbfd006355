import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import type { Row } from "../../../src/http/web/import/formats.ts"
import { type Outcome, run } from "../../../src/http/web/import/importing.ts"

interface Sent {
  readonly idempotencyKey: string | null
  readonly urls: ReadonlyArray<string>
}

type Result =
  { readonly status: number; readonly link: object } | { readonly status: number; readonly problem: object }

const made = (url: string): Result => ({ status: 201, link: { url } })
const refused = (slug: string): Result => ({
  status: 429,
  problem: { type: `https://linkmint.dev/problems/${slug}`, detail: `it is ${slug}` }
})
const answer = (results: ReadonlyArray<Result>) => new Response(JSON.stringify({ results }))

const rowsOf = (count: number): ReadonlyArray<Row> =>
  Array.from({ length: count }, (_, index) => ({
    line: index + 1,
    link: { url: `https://example.com/${index}` }
  }))

/** Imports from a service that answers as told, on a clock that does not make anybody wait. */
const imported = async (
  rows: ReadonlyArray<Row>,
  serve: (sent: Sent, count: number) => Response,
  abort = new AbortController()
) => {
  const requests: Array<Sent> = []
  vi.stubGlobal("fetch", async (_: string, { body, headers }: RequestInit) => {
    const { links } = JSON.parse(String(body)) as { readonly links: ReadonlyArray<{ readonly url: string }> }
    const sent = {
      idempotencyKey: new Headers(headers).get("idempotency-key"),
      urls: links.map(({ url }) => url)
    }
    requests.push(sent)
    return serve(sent, requests.length)
  })
  const outcomes: Array<Outcome> = []
  const running = run(rows, (outcome) => outcomes.push(outcome), abort.signal)
  const ended = running.then(
    () => undefined,
    (error: unknown) => error
  )
  await vi.runAllTimersAsync()
  return { requests, outcomes, last: outcomes.at(-1)!, error: await ended }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe("an import", () => {
  it("makes 100 links at a time, each time under another key, and tells how far it is", async () => {
    const { last, outcomes, requests } = await imported(rowsOf(250), ({ urls }) => answer(urls.map(made)))
    expect(requests.map(({ urls }) => urls.length)).toEqual([100, 100, 50])
    expect(new Set(requests.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3)
    expect(outcomes.map(({ made }) => made.length)).toEqual([0, 100, 200, 250])
    expect(last).toMatchObject({ total: 250, failed: [], waits: undefined })
  })

  it("repeats a request that may have been carried out, under the same key", async () => {
    const { last, outcomes, requests } = await imported(rowsOf(2), ({ urls }, count) => {
      if (count === 1) throw new TypeError("network")
      return count === 2 ? new Response("", { status: 503 }) : answer(urls.map(made))
    })
    expect(requests).toHaveLength(3)
    expect(new Set(requests.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
    expect(outcomes[1]!.waits).toMatch(/cannot be reached/)
    expect(last).toMatchObject({ waits: undefined })
    expect(last.made).toHaveLength(2)
  })

  it("gives a service up that stays away", async () => {
    const { error, requests } = await imported(rowsOf(1), () => new Response("", { status: 503 }))
    expect(requests).toHaveLength(20)
    expect(error).toMatchObject({ status: 503 })
  })

  it("waits for a quota to come back, for the links that it kept from being made", async () => {
    const { last, outcomes, requests } = await imported(rowsOf(3), ({ urls }, count) =>
      answer(urls.map((url, index) => (count === 1 && index > 0 ? refused("rate-limited") : made(url))))
    )
    expect(requests.map(({ urls }) => urls.length)).toEqual([3, 2])
    expect(requests[0]!.idempotencyKey).not.toBe(requests[1]!.idempotencyKey)
    expect(outcomes[1]!.waits).toMatch(/quota/)
    expect(last.made).toHaveLength(3)
  })

  it("goes on past links that cannot be made, and names their lines", async () => {
    const { last } = await imported(rowsOf(2), ({ urls }) => answer([refused("alias-taken"), made(urls[1]!)]))
    expect(last.failed).toEqual([{ line: 1, text: "https://example.com/0", reason: "it is alias-taken" }])
    expect(last.made).toHaveLength(1)
  })

  it("stops when told to, with what it has made", async () => {
    const abort = new AbortController()
    const { last, requests } = await imported(
      rowsOf(300),
      ({ urls }) => {
        abort.abort()
        return answer(urls.map(made))
      },
      abort
    )
    expect(requests).toHaveLength(1)
    expect(last.made).toHaveLength(100)
  })
})
