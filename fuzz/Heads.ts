// @ts-expect-error -- Node's own parser, by which its server understands requests; it has no types.
import { HTTPParser } from "node:_http_common"
import { PlainReader } from "../src/http/server/PlainRequests.ts"

/** What was compared. */
export interface HeadsReport {
  /** Chunks that were read by both parsers. */
  readonly chunks: number
  /** Those that were taken for plain requests, and those of them that create. */
  readonly plain: number
  readonly creates: number
  /** Chunks that `node:http` refuses, or understands as something else. */
  readonly faults: ReadonlyArray<string>
}

/** Faults that are kept at most. */
const faultsMax = 20

/** A request as Node's parser understands it. */
interface Understood {
  readonly method: number
  readonly url: string
  readonly fields: ReadonlyArray<string>
  readonly upgrade: boolean
  readonly shouldKeepAlive: boolean
  readonly version: string
  body: string
}

/** What Node's parser makes of a chunk on a new connection: all requests that it finds, and whether nothing is left over. */
const understandByNode = (chunk: Buffer): { requests: Array<Understood>; isWhole: boolean } => {
  const parser = new HTTPParser()
  parser.initialize(HTTPParser.REQUEST, {})
  const requests: Array<Understood> = []
  let more: Array<string> = []
  let ended = 0
  parser[HTTPParser.kOnHeaders | 0] = (fields: Array<string>) => {
    more = more.concat(fields)
  }
  parser[HTTPParser.kOnHeadersComplete | 0] = (
    major: number,
    minor: number,
    fields: Array<string> | undefined,
    method: number,
    url: string,
    _status: number,
    _message: string,
    upgrade: boolean,
    shouldKeepAlive: boolean
  ) => {
    const all = fields ?? more
    more = []
    const version = `${major}.${minor}`
    requests.push({ method, url, fields: all, upgrade, shouldKeepAlive, version, body: "" })
    return 0
  }
  parser[HTTPParser.kOnBody | 0] = (part: Buffer) => {
    requests.at(-1)!.body += part.toString("latin1")
  }
  parser[HTTPParser.kOnMessageComplete | 0] = () => {
    ended++
  }
  const read: unknown = parser.execute(chunk)
  const isWhole = read === chunk.length && ended === requests.length
  parser.close()
  return { requests, isWhole }
}

/** Numbers from 0 below 1 that follow from a seed (mulberry32). */
export const randomBy = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const names = [
  "Host",
  "host",
  "User-Agent",
  "Accept",
  "Accept-Encoding",
  "Accept-Language",
  "Cookie",
  "Connection",
  "connection",
  "X-Forwarded-For",
  "X-Request-Id",
  "Referer",
  "Content-Length",
  "Transfer-Encoding",
  "Upgrade",
  "Expect",
  "TE",
  "Trailer",
  "Proxy-Connection",
  "Keep-Alive",
  "Sec-GPC",
  "X-Unknown",
  "Range",
  "Content-Type",
  "X-Api-Key",
  "Authorization",
  "Idempotency-Key"
]
const values = [
  "localhost",
  "127.0.0.1:3000",
  "example.com, other",
  "keep-alive",
  "Keep-Alive",
  "close",
  "upgrade",
  "chunked",
  "0",
  "5",
  "100-continue",
  "Mozilla/5.0 (X11; Linux x86_64)",
  "*/*",
  "gzip, deflate, br",
  "a=b; c=d",
  "websocket",
  "1.2.3.4, 5.6.7.8",
  "identity, chunked",
  "+0",
  "é",
  "a\tb",
  '"quoted"'
]
const targets = [
  "/k",
  "/abc1234",
  "/a-b_c",
  "/promo+",
  "/",
  "/a/b",
  "/a?b=c",
  "http://h/k",
  "*",
  "/%61",
  "/k#f",
  "//k",
  "/" + "a".repeat(64),
  "/" + "a".repeat(65),
  "/api/v1/links",
  "/api/v1/links/",
  "/api/v1/links/bulk",
  "/api/v1/links?a=b"
]
const methods = ["GET", "GET", "GET", "GET", "HEAD", "POST", "get", "GE", "OPTIONS", "CONNECT", "PRI"]
const versions = [
  "HTTP/1.1",
  "HTTP/1.1",
  "HTTP/1.1",
  "HTTP/1.0",
  "HTTP/2.0",
  "HTTP/1.2",
  "http/1.1",
  "HTTP/0.9"
]
const scraps = [
  "\r",
  "\n",
  "\r\n",
  "\r\n\r\n",
  " ",
  "\t",
  ":",
  "\0",
  "\x7f",
  "\x80",
  "\xff",
  "\v",
  "\f",
  ",",
  ";",
  "\r\n ",
  "\r\n\t",
  "GET /k HTTP/1.1\r\n",
  "Content-Length: 3\r\n",
  "\r\nTransfer-Encoding: chunked\r\n",
  "Host: h\r\n",
  "x"
]

/** Chunks by chance: requests as clients write them, made of parts as wrong as they can be, then damaged byte by byte. */
export const chunksBy = (random: () => number) => {
  const pick = <A>(list: ReadonlyArray<A>): A => list[Math.floor(random() * list.length)]!
  const usual = () =>
    `GET ${pick(["/k", "/abc1234", "/a-b_c"])} HTTP/1.1\r\nHost: ${pick(["localhost", "127.0.0.1:3000"])}\r\n` +
    pick([
      "",
      "User-Agent: curl/8\r\n",
      "Accept: */*\r\nConnection: keep-alive\r\n",
      "Cookie: a=b\r\nX-Forwarded-For: 1.2.3.4\r\n"
    ]) +
    "\r\n"
  const usualCreate = () => {
    const body = pick([
      `{"url":"https://example.com/${Math.floor(random() * 1e6)}"}`,
      "",
      "{}",
      "\0\xff\r\n\r\n"
    ])
    const length =
      random() < 0.9
        ? body.length
        : pick(["", "-0", "00", "+1", "1e1", "0x1", body.length + 1, body.length - 1])
    return (
      `POST /api/v1/links HTTP/1.1\r\nHost: localhost\r\n` +
      pick(["Content-Type: application/json\r\n", "X-Api-Key: lm_abc\r\n", ""]) +
      pick([`Content-Length: ${length}\r\n`, `content-length: ${length}\r\nAccept: */*\r\n`]) +
      pick([
        "",
        "",
        "",
        "Transfer-Encoding: chunked\r\n",
        `Content-Length: ${length}\r\n`,
        "Expect: 100-continue\r\n"
      ]) +
      `\r\n${body}`
    )
  }
  const odd = () => {
    const end = random() < 0.9 ? "\r\n" : pick(["\n", "\r", "\n\r", " \r\n"])
    const lines = Array.from(
      { length: Math.floor(random() * 6) },
      () => `${pick(names)}${random() < 0.9 ? ": " : pick([":", " : ", ":\t", ""])}${pick(values)}`
    )
    const host = random() < 0.9 ? ["Host: localhost"] : []
    return [`${pick(methods)} ${pick(targets)} ${pick(versions)}`, ...host, ...lines, "", ""].join(end)
  }
  const damaged = (text: string) => {
    let result = text
    const times = Math.floor(random() * 3)
    for (let time = 0; time < times; time++) {
      const at = Math.floor(random() * (result.length + 1))
      const kind = random()
      if (kind < 0.4) result = result.slice(0, at) + pick(scraps) + result.slice(at)
      else if (kind < 0.6) result = result.slice(0, at) + result.slice(at + 1 + Math.floor(random() * 4))
      else if (kind < 0.85)
        result = result.slice(0, at) + String.fromCharCode(Math.floor(random() * 256)) + result.slice(at + 1)
      else if (kind < 0.95) result += random() < 0.5 ? pick([usual, usualCreate])() : pick(scraps)
      else result = result.slice(0, at)
    }
    return result
  }
  return () => Buffer.from(damaged(pick([usual, usual, usualCreate, usualCreate, odd, odd, odd])()), "latin1")
}

const headersOf = (fields: ReadonlyArray<string>): ReadonlyArray<readonly [string, string]> =>
  Array.from(
    { length: fields.length / 2 },
    (_, at) => [fields[2 * at]!.toLowerCase(), fields[2 * at + 1]!] as const
  )

/** As Node's parser numbers them. */
const methodsOfNode = { GET: 1, POST: 3 }

/** Why a chunk must not be answered as the plain request for which it was taken; `undefined` where it may. */
const faultOf = (chunk: Buffer, plain: NonNullable<ReturnType<PlainReader["read"]>>): string | undefined => {
  const { isWhole, requests } = understandByNode(chunk)
  const [one] = requests
  if (one === undefined || requests.length > 1 || !isWhole)
    return `${requests.length} requests, whole: ${isWhole}`
  if (one.method !== methodsOfNode[plain.method] || one.version !== "1.1")
    return `method ${one.method}, version ${one.version}`
  if (one.upgrade || !one.shouldKeepAlive) return "the connection does not go on"
  if (one.url !== plain.url) return `another target: ${one.url}`
  if (one.body !== Buffer.from(plain.body).toString("latin1")) return "another body"
  const given = headersOf(one.fields)
  const taken = Object.entries(plain.headers)
  const isSame =
    given.length === taken.length && given.every(([name, value]) => plain.headers[name] === value)
  return isSame ? undefined : "other fields"
}

/**
 * Compares what is taken for a plain request with what Node's own parser understands, over `count` chunks that follow from a seed. Several chunks in a row are of one connection.
 */
export const compare = (seed: number, count: number): HeadsReport => {
  const random = randomBy(seed)
  const draw = chunksBy(random)
  const faults: Array<string> = []
  let [plain, creates] = [0, 0]
  let reader = new PlainReader()
  for (let n = 0; n < count; n++) {
    if (random() < 0.1) reader = new PlainReader()
    const chunk = draw()
    const taken = reader.read(chunk)
    if (taken === undefined) continue
    plain++
    if (taken.method === "POST") creates++
    const fault = faultOf(chunk, taken)
    if (fault !== undefined && faults.length < faultsMax)
      faults.push(`${fault}: ${JSON.stringify(chunk.toString("latin1"))}`)
  }
  return { chunks: count, plain, creates, faults }
}
