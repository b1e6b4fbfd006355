import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import {
  idOf,
  type Memory,
  type Outcome,
  run,
  type Unfinished
} from "../../../src/http/web/import/importing.ts"
import { save } from "../../../src/http/web/links/exporting.ts"
import type { Entry } from "../../../src/transfer/Reading.ts"

interface Sent {
  readonly idempotencyKey: string | null
  readonly urls: ReadonlyArray<string>
}

type Result =
  { readonly status: number; readonly link: object } | { readonly status: number; readonly problem: object }

const made = (url: string): Result => ({ status: 201, link: { key: "k", url } })
const refused = (slug: string): Result => ({
  status: 429,
  problem: { type: `https://linkmint.dev/problems/${slug}`, detail: `it is ${slug}` }
})
const answer = (results: ReadonlyArray<Result>) => new Response(JSON.stringify({ results }))

const sourceOf = (total: number) => ({
  id: `file of ${total}`,
  title: "CSV",
  total,
  entries: async function* (): AsyncGenerator<Entry> {
    for (let place = 0; place < total; place++) {
      const url = `https://example.com/${place}`
      yield { place, line: place + 1, link: { url }, faults: [], key: "", url }
    }
  }
})

const memoryOf = () => {
  const kept: Array<Unfinished | undefined> = []
  const memory: Memory = { read: () => kept.at(-1), write: (unfinished) => void kept.push(unfinished) }
  return { memory, kept }
}

/** Imports from a service that answers as told, on a clock that does not make anybody wait. */
const imported = async (
  total: number,
  serve: (sent: Sent, count: number) => Response,
  { abort = new AbortController(), memory = memoryOf().memory } = {}
) => {
  const requests: Array<Sent> = []
  vi.stubGlobal("fetch", async (path: string, { body, headers }: RequestInit) => {
    if (path === "/health/live")
      return new Response("", { headers: { date: "Thu, 01 Jan 2026 00:00:00 GMT" } })
    const { links } = JSON.parse(String(body)) as { readonly links: ReadonlyArray<{ readonly url: string }> }
    const sent = {
      idempotencyKey: new Headers(headers).get("idempotency-key"),
      urls: links.map(({ url }) => url)
    }
    requests.push(sent)
    return serve(sent, requests.length)
  })
  const outcomes: Array<Outcome> = []
  const running = run(sourceOf(total), memory, (outcome) => outcomes.push(outcome), abort.signal)
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

describe("an import in the page", () => {
  it("sends its first batch with the same times again after a failure", async () => {
    const { kept, memory } = memoryOf()
    const times: Array<unknown> = []
    vi.stubGlobal("fetch", async (path: string, { body }: RequestInit) => {
      const date = new Date(Date.UTC(2026, 0, 1, 0, times.length)).toUTCString()
      if (path === "/health/live") return new Response("", { headers: { date } })
      times.push(body)
      return times.length === 1
        ? new Response("{}", { status: 403 })
        : answer([made("https://example.com/0")])
    })
    const again = () => run(sourceOf(1), memory, () => {}, new AbortController().signal)
    await expect(again()).rejects.toBeDefined()
    await again()
    expect(times).toHaveLength(2)
    expect(times[1]).toBe(times[0])
    expect(kept.at(-1)).toBeUndefined()
  })

  it("makes 100 links at a time, each time under another key, and tells how far it is", async () => {
    const { last, outcomes, requests } = await imported(250, ({ urls }) => answer(urls.map(made)))
    expect(requests.map(({ urls }) => urls.length)).toEqual([100, 100, 50])
    expect(new Set(requests.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3)
    expect(outcomes.map(({ progress }) => progress.made)).toEqual([0, 100, 200, 250])
    expect(last).toMatchObject({ total: 250, rejected: [], waits: undefined })
  })

  it("says what it waits for, and gives a service up that stays away", async () => {
    const { last, outcomes } = await imported(2, ({ urls }, count) => {
      if (count === 1) throw new TypeError("network")
      if (count === 2) return new Response("", { status: 503 })
      return answer(urls.map((url) => (count === 3 ? refused("rate-limited") : made(url))))
    })
    expect(outcomes.map(({ waits }) => waits)).toEqual([undefined, "away", "away", "quota", undefined])
    expect(last.progress.made).toBe(2)
    const { error, requests } = await imported(1, () => new Response("", { status: 503 }))
    expect(requests).toHaveLength(20)
    expect(error).toMatchObject({ status: 503 })
  })

  it("says why, where links cannot be made for long, and leaves them for the next run", async () => {
    const { kept, memory } = memoryOf()
    const { error, last, requests } = await imported(
      101,
      ({ urls }) => answer(urls.map((url) => (urls.length === 1 ? refused("rate-limited") : made(url)))),
      { memory }
    )
    expect(requests).toHaveLength(1 + 20)
    expect(error).toMatchObject({ kind: "rate-limited", status: 429, message: "it is rate-limited" })
    expect(last).toMatchObject({ progress: { settled: 100, made: 100 }, rejected: [] })
    expect(kept.at(-1)).toMatchObject({ progress: { settled: 100 } })
  })

  it("goes on, when the page was loaded again, where it was, and forgets what is over", async () => {
    const { kept, memory } = memoryOf()
    const serve = ({ urls }: Sent, count: number) =>
      answer(urls.map((url, index) => (count === 1 && index === 3 ? refused("alias-taken") : made(url))))
    const abort = new AbortController()
    const first = await imported(
      250,
      (sent, count) => {
        if (count === 2) abort.abort()
        return serve(sent, count)
      },
      { abort, memory }
    )
    expect(first.last.progress).toMatchObject({ settled: 200, made: 199, rejected: 1 })
    expect(kept.at(-1)).toMatchObject({
      id: "file of 250",
      rejected: [{ line: 4, reason: "it is alias-taken" }]
    })
    const next = await imported(250, ({ urls }) => answer(urls.map(made)), { memory })
    expect(next.requests.map(({ urls }) => urls[0])).toEqual(["https://example.com/200"])
    expect(next.last).toMatchObject({ progress: { settled: 250, made: 249, rejected: 1 } })
    expect(next.last.rejected.map(({ line }) => line)).toEqual([4])
    expect(kept.at(-1)).toBeUndefined()
    // Another file begins at its beginning.
    kept.push(first.last as unknown as Unfinished)
    expect((await imported(3, ({ urls }) => answer(urls.map(made)), { memory })).last.progress.made).toBe(3)
  })
})

it("an export in the page saves nothing where some links cannot be read", async () => {
  vi.stubGlobal("fetch", async (path: string) => {
    const isSecond = path.includes("cursor=next")
    const page = { data: [], nextCursor: isSecond ? null : "next", ...(isSecond && { partial: true }) }
    return new Response(JSON.stringify(page))
  })
  const counts: Array<number> = []
  const saving = save({}, "csv", (count) => counts.push(count), new AbortController().signal)
  await expect(saving).rejects.toMatchObject({
    kind: "own",
    message: expect.stringMatching(/^Some links/)
  })
  expect(counts).toEqual([0])
})

it("a file is known by its name, size and time, and by how it is read", () => {
  const file = { name: "a.csv", size: 1, lastModified: 2 }
  expect(idOf(file, { keepsKeys: true })).toBe(idOf({ ...file }, { keepsKeys: true }))
  const others = [
    idOf(file, {}),
    idOf({ ...file, name: "b.csv" }, {}),
    idOf({ ...file, size: 2 }, {}),
    idOf({ ...file, lastModified: 3 }, {}),
    idOf(file, { keepsKeys: true })
  ]
  expect(new Set(others).size).toBe(others.length)
})
