import { describe, expect, it } from "vitest"
import { faultOf } from "../../src/http/exchange/JsonBounds.ts"
import { bulkBounds } from "../../src/http/links/BulkCreation.ts"
import { formatMoment } from "../../src/transfer/Moment.ts"
import type { NewLink } from "../../src/transfer/Fields.ts"
import {
  digestOf,
  NotYetMade,
  type Ports,
  type Progress,
  type Rejected,
  rejectedCells,
  type Result,
  run
} from "../../src/transfer/Importing.ts"
import type { Entry } from "../../src/transfer/Reading.ts"

const base_ms = Date.UTC(2026, 0, 1)
const start: Progress = { settled: 0, made: 0, present: 0, rejected: 0, base_ms }

const entryOf = (place: number, link: Partial<NewLink> = {}): Entry => ({
  place,
  line: place + 2,
  link: { url: `https://example.com/${place}`, imported: {}, ...link },
  faults: [],
  key: link.alias ?? "",
  url: `https://example.com/${place}`
})

const badEntry = (place: number): Entry => ({
  place,
  line: place + 2,
  faults: [
    { field: "url", message: "is missing" },
    { field: "title", message: "has more than 256 characters" }
  ],
  key: "bad",
  url: ""
})

async function* of(entries: Iterable<Entry>) {
  for (const entry of entries) yield entry
}

const problem = (slug: string, status = 409, path = "alias"): Result => ({
  status,
  problem: {
    type: `https://linkmint.dev/problems/${slug}`,
    detail: `it is ${slug}`,
    errors: [{ path, message: `is ${slug}` }]
  }
})

/** A service that keeps what the real one promises of keys of idempotency and of aliases. `falter` makes a request fail before or after it is carried out. */
const serviceOf = (falter: (request: number) => "before" | "after" | undefined = () => undefined) => {
  const links: Array<NewLink> = []
  const answered = new Map<string, { readonly body: string; readonly result: Result }>()
  const taken = new Map<string, string>()
  let requests = 0
  const create = (link: NewLink, key: string): Result => {
    const body = JSON.stringify(link)
    const before = answered.get(key)
    if (before !== undefined) {
      if (before.body !== body) return problem("idempotency-mismatch", 422)
      return "link" in before.result ? { ...before.result, replayed: true } : before.result
    }
    if (link.alias !== undefined && taken.has(link.alias)) return problem("alias-taken")
    links.push(link)
    const name = link.alias ?? `minted${links.length}`
    taken.set(name, link.url)
    const result = { status: 201, link: { key: name } }
    answered.set(key, { body, result })
    return result
  }
  return {
    links,
    taken,
    requests: () => requests,
    send: async (batch: ReadonlyArray<NewLink>, key: string) => {
      const fault = falter(++requests)
      if (fault === "before") throw new Error("away")
      const results = batch.map((link, index) => create(link, `${key}\n${index}`))
      if (fault === "after") throw new Error("away")
      return results
    }
  }
}

const portsOf = (service: ReturnType<typeof serviceOf>, others: Partial<Ports> = {}) => {
  const written: Array<Progress> = []
  const rejected: Array<Rejected> = []
  const ports: Ports = {
    send: service.send,
    urlOf: async (key) => service.taken.get(key),
    pause: async () => {},
    mayPass: () => true,
    onSettled: (progress, some) => {
      written.push(progress)
      rejected.push(...some)
    },
    isStopped: () => false,
    ...others
  }
  return { ports, written, rejected }
}

describe("an import", () => {
  it("makes batches of links, and counts each as created before the one that precedes it", async () => {
    const service = serviceOf()
    const { ports, written } = portsOf(service)
    const dated = { imported: { createdAt: "2020-01-01T00:00:00.000Z" } }
    const entries = Array.from({ length: 250 }, (_, place) => entryOf(place, place === 7 ? dated : {}))
    const done = await run(of(entries), start, { atOnce: 100, ports })
    expect(done).toEqual({ ...start, settled: 250, made: 250 })
    expect(written.map(({ settled }) => settled)).toEqual([100, 200, 250])
    const times = service.links.map(({ imported }) => Date.parse(imported!.createdAt!))
    expect(times[7]).toBe(Date.UTC(2020, 0, 1))
    expect(times.filter((_, place) => place !== 7)).toEqual(
      entries.map(({ place }) => base_ms - place).filter((_, place) => place !== 7)
    )
  })

  it("reads a time that lies ahead by a time zone as now, and leaves others to the service", async () => {
    const service = serviceOf()
    const { ports } = portsOf(service)
    const at = (ahead_ms: number) => ({
      imported: { createdAt: formatMoment(base_ms + ahead_ms) }
    })
    await run(of([entryOf(0, at(3_600_000)), entryOf(1, at(15 * 3_600_000))]), start, { atOnce: 9, ports })
    expect(service.links.map(({ imported }) => Date.parse(imported!.createdAt!) - base_ms)).toEqual([
      0,
      15 * 3_600_000
    ])
  })

  it("names the lines that made nothing, in their order, and goes on", async () => {
    const service = serviceOf()
    service.taken.set("gone", "https://elsewhere.example/")
    const { ports, rejected } = portsOf(service)
    const done = await run(of([badEntry(0), entryOf(1, { alias: "gone" }), badEntry(2), entryOf(3)]), start, {
      atOnce: 10,
      ports
    })
    expect(done).toMatchObject({ settled: 4, made: 1, rejected: 3 })
    const others = [{ field: "title", message: "has more than 256 characters" }]
    expect(rejected).toEqual([
      { line: 2, field: "url", reason: "is missing", others, key: "bad", url: "" },
      { line: 3, field: "key", reason: "is alias-taken", key: "gone", url: "https://example.com/1" },
      { line: 4, field: "url", reason: "is missing", others, key: "bad", url: "" }
    ])
    expect(rejectedCells(rejected[0]!)).toEqual([
      "2",
      "url",
      "is missing; title has more than 256 characters",
      "bad",
      ""
    ])
  })

  it("loaded twice makes nothing twice, with its place or without", async () => {
    const service = serviceOf()
    const entries = Array.from({ length: 30 }, (_, place) =>
      entryOf(place, place % 2 === 0 ? { alias: `key-${place}` } : {})
    )
    const first = await run(of(entries), start, { atOnce: 7, ports: portsOf(service).ports })
    expect(first).toMatchObject({ made: 30, present: 0 })
    expect(await run(of(entries), first, { atOnce: 7, ports: portsOf(service).ports })).toEqual(first)
    // Another run begins at another moment, and knows of nothing.
    const later = { ...start, base_ms: base_ms + 1_000 }
    const second = await run(of(entries), later, { atOnce: 7, ports: portsOf(service).ports })
    expect(second).toMatchObject({ settled: 30, made: 0, present: 30, rejected: 0 })
    expect(service.links).toHaveLength(30)
  })

  it("that is cut off anywhere goes on, and makes each link once", async () => {
    const entries = Array.from({ length: 23 }, (_, place) =>
      place % 6 === 5 ? badEntry(place) : entryOf(place, place % 2 === 0 ? { alias: `key-${place}` } : {})
    )
    for (const when of ["before", "after", "written"] as const) {
      for (let cutAt = 1; cutAt <= 5; cutAt++) {
        let requests = 0
        const service = serviceOf((request) => (request === cutAt && when !== "written" ? when : undefined))
        // What outlives the process: the last progress that was written, and the lines of the rejects file up to there.
        let kept = { progress: start, rejected: 0 }
        const lines: Array<Rejected> = []
        const ports: Ports = {
          ...portsOf(service).ports,
          mayPass: () => false,
          onSettled: (progress, some) => {
            lines.push(...some)
            if (when === "written" && ++requests === cutAt) throw new Error("killed")
            kept = { progress, rejected: lines.length }
          }
        }
        await expect(run(of(entries), start, { atOnce: 5, ports })).rejects.toThrow(/away|killed/)
        lines.length = kept.rejected
        const done = await run(of(entries), kept.progress, { atOnce: 5, ports })
        expect(done.settled).toBe(23)
        expect(done.made + done.present).toBe(20)
        expect(lines.map(({ line }) => line)).toEqual([7, 13, 19])
        expect(service.links).toHaveLength(20)
      }
    }
  })

  it("repeats what may have been carried out, under the same key, and gives up what stays away", async () => {
    const waits: Array<string> = []
    const service = serviceOf((request) => (request === 1 ? "after" : request === 2 ? "before" : undefined))
    const { ports } = portsOf(service, { pause: async (why) => void waits.push(why) })
    expect(await run(of([entryOf(0)]), start, { atOnce: 5, ports })).toMatchObject({ settled: 1 })
    expect(service.links).toHaveLength(1)
    expect(waits).toEqual(["away", "away"])
    const away = serviceOf(() => "before")
    await expect(run(of([entryOf(0)]), start, { atOnce: 5, ports: portsOf(away).ports })).rejects.toThrow()
    expect(away.requests()).toBe(20)
  })

  it("waits for a quota to come back, and counts what it made before as made", async () => {
    const service = serviceOf()
    let open = 2
    const waits: Array<string> = []
    const { ports } = portsOf(service, {
      send: async (batch, key) => {
        const before = service.links.length
        const results = await service.send(batch.slice(0, open), key)
        expect(service.links.length - before).toBeLessThanOrEqual(open)
        return [...results, ...batch.slice(open).map(() => problem("rate-limited", 429))]
      },
      pause: async (why) => {
        waits.push(why)
        open += 2
      }
    })
    const done = await run(of(Array.from({ length: 5 }, (_, place) => entryOf(place))), start, {
      atOnce: 5,
      ports
    })
    expect(done).toMatchObject({ settled: 5, made: 5, present: 0, rejected: 0 })
    expect(waits).toEqual(["quota", "quota"])
    expect(service.links).toHaveLength(5)
  })

  it("waits for a quota as long as each minute makes a link, however large the batch", async () => {
    const service = serviceOf()
    let [open, pauses] = [0, 0]
    const { ports, rejected } = portsOf(service, {
      send: async (batch, key) => [
        ...(await service.send(batch.slice(0, open), key)),
        ...batch.slice(open).map(() => problem("rate-limited", 429))
      ],
      // One a minute, and twelve tries in that.
      pause: async () => void (open = Math.floor(++pauses / 12))
    })
    const entries = Array.from({ length: 40 }, (_, place) => entryOf(place))
    const done = await run(of(entries), start, { atOnce: 40, ports })
    expect(done).toMatchObject({ settled: 40, made: 40, present: 0, rejected: 0 })
    expect([pauses, rejected]).toEqual([480, []])
  })

  it("settles nothing of a batch that cannot be made whole, and the next run makes what is missing", async () => {
    for (const slug of ["rate-limited", "unavailable", "idempotency-in-progress"]) {
      const service = serviceOf()
      let [open, requests] = [2, 0]
      const { ports, rejected, written } = portsOf(service, {
        send: async (batch, key) => {
          requests++
          // Of the second batch the last three are not made.
          const few = batch.length === 5 && batch[0]!.url.endsWith("/5") ? batch.slice(0, open) : batch
          const results = await service.send(few, key)
          return [...results, ...batch.slice(few.length).map(() => problem(slug, 429))]
        }
      })
      const entries = Array.from({ length: 12 }, (_, place) => entryOf(place))
      const running = run(of(entries), start, { atOnce: 5, ports })
      await expect(running).rejects.toBeInstanceOf(NotYetMade)
      await expect(running).rejects.toMatchObject({
        kind: slug,
        message: `3 links could not be made yet: it is ${slug}`
      })
      expect(requests).toBe(1 + 20)
      expect([written.map(({ settled }) => settled), rejected]).toEqual([[5], []])
      open = 5
      const done = await run(of(entries), written.at(-1)!, { atOnce: 5, ports })
      expect(done).toMatchObject({ settled: 12, made: 10, present: 2, rejected: 0 })
      expect(service.links.map(({ url }) => url)).toEqual(entries.map(({ url }) => url))
    }
  })

  it("that is stopped while it waits for a quota settles nothing of the batch", async () => {
    for (const stopAt of ["answer", "pause"] as const) {
      let isStopped = false
      const service = serviceOf()
      const { ports, written } = portsOf(service, {
        send: async (batch, key) => {
          isStopped = stopAt === "answer"
          const results = await service.send(batch.slice(0, 1), key)
          return [...results, ...batch.slice(1).map(() => problem("rate-limited", 429))]
        },
        pause: async () => void (isStopped = true),
        isStopped: () => isStopped
      })
      expect(await run(of([entryOf(0), entryOf(1)]), start, { atOnce: 5, ports })).toEqual(start)
      expect([service.requests(), written]).toEqual([1, []])
    }
  })

  it("stops between two batches when told to", async () => {
    const service = serviceOf()
    const { ports } = portsOf(service, { isStopped: () => service.requests() > 0 })
    const entries = Array.from({ length: 30 }, (_, place) => entryOf(place))
    expect(await run(of(entries), start, { atOnce: 10, ports })).toMatchObject({ settled: 10, made: 10 })
  })

  it("sends 20 passwords at most at a time, a megabyte, and as many values as a bulk may have", async () => {
    const sizes: Array<number> = []
    const service = serviceOf()
    const { ports } = portsOf(service, {
      send: (batch, key) => {
        sizes.push(batch.length)
        return service.send(batch, key)
      }
    })
    const guarded = Array.from({ length: 45 }, (_, place) => entryOf(place, { password: "p" }))
    await run(of(guarded), start, { atOnce: 100, ports })
    expect(sizes.splice(0)).toEqual([20, 20, 5])
    const long = Array.from({ length: 1_000 }, (_, place) =>
      entryOf(place, { url: `https://example.com/${"x".repeat(1_990)}` })
    )
    await run(of(long), start, { atOnce: 1_000, ports })
    expect(sizes.splice(0).length).toBe(3)
    const countries = Array.from({ length: 20 }, () => "DE")
    const rules = Array.from({ length: 20 }, () => ({ url: "https://example.com/", when: { countries } }))
    const routed = Array.from({ length: 200 }, (_, place) => entryOf(place, { rules }))
    const values: Array<number> = []
    const counting = portsOf(service, {
      send: (batch, key) => {
        const body = Buffer.from(JSON.stringify({ links: batch }))
        values.push(faultOf(body, bulkBounds) === undefined ? batch.length : 0)
        return service.send(batch, key)
      }
    })
    await run(of(routed), start, { atOnce: 200, ports: counting.ports })
    expect(values).toEqual([123, 77])
  })

  it("of 200,000 lines holds one batch at a time", async () => {
    let read = 0
    let held = 0
    let settled = 0
    const entries = async function* () {
      for (; read < 200_000; read++) {
        held = Math.max(held, read - settled)
        yield entryOf(read)
      }
    }
    const { ports } = portsOf(serviceOf(), {
      send: async (batch) => batch.map(() => ({ status: 201, link: { key: "x" } })),
      onSettled: (progress) => void (settled = progress.settled)
    })
    expect(await run(entries(), start, { atOnce: 500, ports })).toMatchObject({ made: 200_000 })
    expect(held).toBe(500)
  })
})

it("a digest is the same for the same text, and differs where a character does", () => {
  const texts = Array.from({ length: 20_000 }, (_, n) => `["${n}",${n % 7}]`)
  expect(new Set(texts.map(digestOf)).size).toBe(texts.length)
  expect(digestOf("a")).toBe(digestOf("a"))
  expect(digestOf("a")).toMatch(/^[0-9a-f]{32}$/)
})
