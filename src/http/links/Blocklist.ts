import { FileSystem } from "@effect/platform"
import { Data, Effect, Either, type Scope, Stream } from "effect"
import * as WatchedFile from "../../fibers/WatchedFile.ts"
import { isValidHost } from "./TargetUrl.ts"
import { hostOverIPv4 } from "../../model/Network.ts"
import { parseUrl } from "../../model/ParseUrl.ts"

/** Bytes that the file may have at most: some five million domains, which take some 500 MB of memory. */
const fileBytesMax = 128 * 1024 * 1024

/** The blocklist cannot be used. */
export class BlocklistUnusable extends Data.TaggedError("BlocklistUnusable")<{
  readonly file: string
  readonly reason: string
}> {
  override get message() {
    return `The blocklist ${this.file} cannot be used: ${this.reason}. Mend it, or set BLOCKLIST_FILE to another file.`
  }
}

/** Domains that links must not lead to. */
export interface Blocklist {
  /** Whether a host, as the WHATWG URL Standard writes it, is on the list or below a domain that is. */
  readonly has: (host: string) => boolean
}

/** What most lines are: a name in lower case, which no rule of host names would write in another way. */
const plainName = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Whether a text can be nothing but a host within a URL: a name, an IPv4 address, or an IPv6 address in brackets. */
const isHostAlone = (text: string): boolean => /^(?:[^\s/\\?#@:[\]]+|\[[0-9a-f:.]+\])$/i.test(text)

/** A line's domain or address as the hosts of URLs are written; `undefined` where it is none. */
const hostOf = (line: string): string | undefined => {
  if (line.length <= 253 && plainName.test(line)) return line
  const url = isHostAlone(line) ? parseUrl(`http://${line}/`) : undefined
  return url !== undefined && isValidHost(url.hostname)
    ? hostOverIPv4(url.hostname.replace(/\.$/, ""))
    : undefined
}

const quoted = (text: string) => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text)

/** Reads the lines of a list: one domain each, with `#` before comments. */
const parse = <E, R>(
  lines: Stream.Stream<string, E, R>
): Effect.Effect<Either.Either<ReadonlySet<string>, string>, E, R> =>
  Effect.gen(function* () {
    const hosts = new Set<string>()
    let number = 0
    let fault: string | undefined
    const add = (line: string) => {
      number++
      const text = line.replace(/#.*/, "").trim()
      if (text === "") return
      const host = hostOf(text)
      if (host === undefined) fault ??= `line ${number} is not a domain: ${quoted(text)}`
      else hosts.add(host)
    }
    // A chunk at a time, so that requests are answered between them.
    yield* Stream.runForEachChunk(lines, (chunk) => {
      for (const line of chunk) add(line)
      return Effect.yieldNow()
    })
    return fault === undefined ? Either.right(hosts) : Either.left(fault)
  })

const isOn = (hosts: ReadonlySet<string>, host: string): boolean => {
  let rest = host.endsWith(".") ? host.slice(0, -1) : hostOverIPv4(host)
  while (!hosts.has(rest)) {
    const dot = rest.indexOf(".")
    // What is right of a dot in an address is no domain of its own, and is on no list.
    if (dot === -1) return false
    rest = rest.slice(dot + 1)
  }
  return true
}

/** The blocklist in a file, as `WatchedFile` watches it. */
export const watch = (
  file: string
): Effect.Effect<Blocklist, BlocklistUnusable, FileSystem.FileSystem | Scope.Scope> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const unusable = (reason: string) => new BlocklistUnusable({ file, reason })
    const lines = fs.stream(file).pipe(Stream.decodeText(), Stream.splitLines)
    const hosts = yield* WatchedFile.watch({
      file,
      bytesMax: fileBytesMax,
      load: Effect.flatMap(parse(lines), Either.mapLeft(unusable)),
      unusable,
      describe: ({ size }: ReadonlySet<string>) => `The blocklist has ${size} domains`
    })
    return { has: (host) => isOn(hosts(), host) }
  })
