import { NodeContext } from "@effect/platform-node"
import { FileSystem } from "@effect/platform/FileSystem"
import { expect, it } from "@effect/vitest"
import { Effect, Exit, Layer, Option } from "effect"
import { exportFile } from "../../src/admin/ExportCommand.ts"
import { type Import, importFile } from "../../src/admin/ImportCommand.ts"
import { LinkApi, NotAnswered, type Page } from "../../src/admin/LinkApi.ts"
import { formatMoment } from "../../src/transfer/Moment.ts"
import { exportedLine, headOf, type ShownLink } from "../../src/transfer/Exporting.ts"
import type { NewLink } from "../../src/transfer/Fields.ts"
import type { Result } from "../../src/transfer/Importing.ts"

const lost = new NotAnswered({ message: "The service is gone.", mayPass: false })
const away = new NotAnswered({ message: "The service is away.", mayPass: true })

const shown = (place: number): ShownLink => ({
  key: `key-${place}`,
  shortUrl: `https://sho.rt/key-${place}`,
  url: `https://example.com/${place}`,
  title: null,
  tags: [],
  createdAt: formatMoment(1_700_000_000_000 + place),
  updatedAt: formatMoment(1_700_000_000_000 + place),
  expiresAt: null,
  validSince: null,
  maxVisits: null,
  redirectStatus: 302,
  forwardQuery: false,
  crawlable: false,
  hasPassword: false,
  visits: { total: place, bots: 0 }
})

/** A service that answers pages of two links, and creates links whose aliases are free. `fault` makes a request fail, before it is carried out or after. */
const serviceOf = (
  count: number,
  fault: (request: number) => { readonly error: NotAnswered; readonly isAfter: boolean } | undefined = () =>
    undefined
) => {
  const made = new Map<string, NewLink>()
  const keys = new Map<string, Result>()
  let requests = 0
  const create = (link: NewLink, key: string): Result => {
    const before = keys.get(key)
    if (before !== undefined && "link" in before) return { ...before, replayed: true }
    const alias = link.alias!
    if (made.has(alias)) {
      return {
        status: 409,
        problem: {
          type: "https://linkmint.dev/problems/alias-taken",
          detail: "taken",
          errors: [{ path: "alias", message: `"${alias}" is taken` }]
        }
      }
    }
    made.set(alias, link)
    const result = { status: 201, link: { key: alias } }
    keys.set(key, result)
    return result
  }
  const faultily = <A>(carryOut: () => A) =>
    Effect.suspend(() => {
      const found = fault(++requests)
      if (found !== undefined && !found.isAfter) return Effect.fail(found.error)
      const answer = carryOut()
      return found === undefined ? Effect.succeed(answer) : Effect.fail(found.error)
    })
  const layer = Layer.succeed(LinkApi, {
    list: (cursor) =>
      faultily((): Page => {
        const from = Number(cursor ?? 0)
        const to = Math.min(from + 2, count)
        return {
          data: Array.from({ length: to - from }, (_, place) => shown(from + place)),
          nextCursor: to === count ? null : String(to),
          ...(cursor === null && { total: { count, isExact: true } })
        }
      }),
    create: (links, key) => faultily(() => links.map((link, place) => create(link, `${key}\n${place}`))),
    urlOf: (key) => Effect.sync(() => made.get(key)?.url),
    now_ms: Effect.succeed(1_800_000_000_000)
  })
  return { layer, made, requests: () => requests }
}

const file = (text: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem
    const path = `${yield* fs.makeTempDirectoryScoped()}/links`
    if (text !== "") yield* fs.writeFileString(path, text)
    return path
  })

const textOf = (path: string) => Effect.flatMap(FileSystem, (fs) => fs.readFileString(path))
const isThere = (path: string) => Effect.flatMap(FileSystem, (fs) => fs.exists(path))

const imported = (path: string, service: ReturnType<typeof serviceOf>, others: Partial<Import> = {}) =>
  importFile(
    {
      file: path,
      source: "linkmint",
      keepsKeys: true,
      cutsTitles: false,
      tags: [],
      isCheck: false,
      ...others
    },
    Effect.void
  ).pipe(Effect.provide(service.layer))

const exported = (path: string, service: ReturnType<typeof serviceOf>, format: "csv" | "jsonl" = "csv") =>
  exportFile({ file: path, format, owner: Option.none() }, Effect.void).pipe(Effect.provide(service.layer))

const messageOf = <A, R>(failing: Effect.Effect<A, { readonly message: string }, R>) =>
  Effect.map(Effect.flip(failing), ({ message }) => message)

const all = (count: number) =>
  headOf("csv") + Array.from({ length: count }, (_, place) => exportedLine(shown(place), "csv")).join("")

const test = (
  name: string,
  effect: Effect.Effect<unknown, unknown, FileSystem | import("effect").Scope.Scope>
) => it.scopedLive(name, () => Effect.provide(effect, NodeContext.layer))

test(
  "an export has every link, page by page, and leaves nothing else behind",
  Effect.gen(function* () {
    const path = yield* file("")
    yield* exported(path, serviceOf(7))
    expect(yield* textOf(path)).toBe(all(7))
    for (const name of [".part", ".export.json"]) expect(yield* isThere(path + name)).toBe(false)
  })
)

test(
  "an export that is cut off goes on with the page at which it was, and waits for a service that is away",
  Effect.gen(function* () {
    for (let cutAt = 1; cutAt <= 4; cutAt++) {
      const path = yield* file("")
      const cut = serviceOf(7, (request) => (request === cutAt ? { error: lost, isAfter: false } : undefined))
      expect(Exit.isFailure(yield* Effect.exit(exported(path, cut)))).toBe(true)
      expect(yield* isThere(path)).toBe(false)
      // A page of which only a part was written.
      const fs = yield* FileSystem
      yield* fs.writeFileString(`${path}.part`, "half a l", { flag: "a" })
      const next = serviceOf(7, (request) => (request === 1 ? { error: away, isAfter: false } : undefined))
      yield* exported(path, next)
      expect(yield* textOf(path)).toBe(all(7))
      expect(next.requests()).toBe(1 + 4 - (cutAt - 1))
    }
  })
)

test(
  "an export whose file has gone begins again",
  Effect.gen(function* () {
    const path = yield* file("")
    const cut = serviceOf(7, (request) => (request === 3 ? { error: lost, isAfter: false } : undefined))
    yield* Effect.exit(exported(path, cut))
    const fs = yield* FileSystem
    yield* fs.remove(`${path}.part`)
    yield* exported(path, serviceOf(7))
    expect(yield* textOf(path)).toBe(all(7))
  })
)

const lines = (count: number) =>
  headOf("csv") +
  Array.from({ length: count }, (_, place) =>
    place % 100 === 50 ? `bad key,,https://example.com/${place}\r\n` : exportedLine(shown(place), "csv")
  ).join("")

test(
  "an import that is cut off at any request goes on, and neither makes nor rejects anything twice",
  Effect.gen(function* () {
    for (const isAfter of [false, true]) {
      for (let cutAt = 1; cutAt <= 4; cutAt++) {
        const path = yield* file(lines(700))
        const service = serviceOf(0, (request) => (request === cutAt ? { error: lost, isAfter } : undefined))
        expect(Exit.isFailure(yield* Effect.exit(imported(path, service)))).toBe(true)
        const fs = yield* FileSystem
        yield* fs.writeFileString(`${path}.rejects.csv`, "half a l", { flag: "a" })
        yield* imported(path, service)
        expect([...service.made.keys()]).toEqual(
          Array.from({ length: 700 }, (_, place) => place)
            .filter((place) => place % 100 !== 50)
            .map((place) => `key-${place}`)
        )
        const rejects = (yield* textOf(`${path}.rejects.csv`)).trim().split("\r\n")
        expect(rejects[0]).toBe("line,field,reason,key,url")
        expect(rejects.slice(1).map((row) => row.split(",").slice(0, 2))).toEqual(
          [52, 152, 252, 352, 452, 552, 652].map((line) => [String(line), "key"])
        )
        // It is over, and asks nothing any more.
        const requests = service.requests()
        yield* imported(path, service)
        expect(service.requests()).toBe(requests)
      }
    }
  })
)

test(
  "an import of which some links cannot be made for long stops amid the file, rejects none of them, and goes on",
  Effect.gen(function* () {
    const path = yield* file(lines(500))
    const service = serviceOf(0)
    const api = yield* Effect.provide(LinkApi, service.layer)
    let isBound = true
    let requests = 0
    const limited: Result = {
      status: 429,
      problem: { type: "https://linkmint.dev/problems/rate-limited", detail: "The limit of 60 is used up." }
    }
    const layer = Layer.succeed(LinkApi, {
      ...api,
      create: (links, key) => {
        const few = isBound && ++requests > 1 ? links.slice(0, 60) : links
        return Effect.map(api.create(few, key), (results) => [
          ...results,
          ...links.slice(few.length).map(() => limited)
        ])
      }
    })
    expect(yield* messageOf(imported(path, { ...service, layer }))).toBe(
      "138 links could not be made yet: The limit of 60 is used up. Run the command again to go on."
    )
    expect(yield* textOf(`${path}.import.json`)).toMatch(/"isOver":false.*"settled":200,.*"rejected":2/)
    isBound = false
    yield* imported(path, { ...service, layer })
    expect(service.made.size).toBe(495)
    expect(yield* textOf(`${path}.import.json`)).toMatch(
      /"isOver":true.*"made":435,"present":60,"rejected":5/
    )
    const rejects = (yield* textOf(`${path}.rejects.csv`)).trim().split("\r\n")
    expect(rejects.slice(1).map((row) => row.split(",")[0])).toEqual(["52", "152", "252", "352", "452"])
  })
)

test(
  "a file that cannot be read to its end makes nothing",
  Effect.gen(function* () {
    const service = serviceOf(0)
    const path = yield* file(`${lines(300)}"key-x`)
    expect(yield* messageOf(imported(path, service))).toMatch(
      /^Line 302: a quoted cell does not end\. Nothing was imported/
    )
    const latin = yield* file("")
    const fs = yield* FileSystem
    yield* fs.writeFile(
      latin,
      Buffer.from("key,shortUrl,url,hasPassword\r\nkey-\xe4,,https://example.com,\r\n", "latin1")
    )
    expect(yield* messageOf(imported(latin, service))).toMatch(/not UTF-8/)
    expect(yield* messageOf(imported(`${path}.none`, service))).toMatch(/NotFound|no such file/i)
    expect(service.requests()).toBe(0)
  })
)

test(
  "a check makes nothing, and a journal of another file or of other options is not gone on with",
  Effect.gen(function* () {
    const path = yield* file(lines(300))
    const service = serviceOf(0)
    yield* imported(path, service, { isCheck: true })
    expect(service.requests()).toBe(0)
    expect(yield* isThere(`${path}.import.json`)).toBe(false)
    yield* imported(path, service)
    for (const others of [{ keepsKeys: false }, { source: "csv" as const }]) {
      expect(yield* messageOf(imported(path, service, others))).toMatch(/of other options/)
    }
    const fs = yield* FileSystem
    yield* fs.writeFileString(path, lines(301))
    expect(yield* messageOf(imported(path, service))).toMatch(/of another file/)
  })
)

test(
  "the same file again, without its journal, makes nothing twice",
  Effect.gen(function* () {
    const path = yield* file(lines(300))
    const service = serviceOf(0)
    yield* imported(path, service)
    const fs = yield* FileSystem
    yield* fs.remove(`${path}.import.json`)
    const made = service.made.size
    yield* imported(path, service)
    expect(service.made.size).toBe(made)
    expect(yield* textOf(`${path}.import.json`)).toMatch(/"made":0,"present":297,"rejected":3/)
  })
)
