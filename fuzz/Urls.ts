import { Either } from "effect"
import { isPlain, type OwnAddress, parse, parseAny } from "../src/http/links/TargetUrl.ts"
import { randomBy } from "./Heads.ts"

/** What was compared. */
export interface UrlsReport {
  /** Texts that were looked at. */
  readonly urls: number
  /** Those that are stored as they are, without being parsed. */
  readonly plain: number
  /** Texts of which the URL parser says something else. */
  readonly faults: ReadonlyArray<string>
}

/** Faults that are kept at most. */
const faultsMax = 20

const own: OwnAddress = {
  baseUrl: new URL("https://sho.rt"),
  port: 8080,
  reachedAt: new URL("http://www.example.com")
}

const schemes = [
  "https://",
  "https://",
  "https://",
  "http://",
  "http://",
  "HTTP://",
  "ftp://",
  "https:/",
  "//"
]
const hosts = [
  "example.com",
  "www.example.com",
  "sho.rt",
  "a-b.c0.example.org",
  "0x7f.1",
  "1.2.3.4",
  "localhost",
  "a.localhost",
  "xn--nxasmq6b.com",
  "xn--a.com",
  "a--b.com",
  "-a.com",
  "a-.com",
  "a_b.com",
  "A.com",
  "a..com",
  "a.com.",
  "a.0x",
  "[::1]",
  `${"a".repeat(63)}.com`,
  `${"a".repeat(58)}.com`,
  `${"a".repeat(59)}.com`,
  `${"a".repeat(64)}.com`,
  "a.b.c.d.e.f.g.h.example.museum",
  "bücher.example"
]
const parts = [
  "/a",
  "/",
  "/a.b",
  "/.",
  "/..",
  "/%2e",
  "/%2E%2e",
  "/.a",
  "/a..",
  "/%",
  "/%zz",
  "/'",
  "/~!$&'()*+,;=:@-_",
  "//",
  ":80",
  ":443",
  ":8080",
  "?a=b&c=d",
  "?'",
  "?a/b?c",
  "#f",
  "#'",
  "#a?b/c",
  "#a#b"
]
const scraps = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).concat(
  "é",
  "\u00a0",
  "\u200d",
  "。",
  "\ud800",
  "%2e",
  "%2E",
  "../",
  "--",
  "@",
  "\\"
)

/** Texts by chance: URLs as clients write them, made of parts as odd as they can be, then damaged. */
export const urlsBy = (random: () => number) => {
  const pick = <A>(list: ReadonlyArray<A>): A => list[Math.floor(random() * list.length)]!
  return () => {
    // The first ones are as clients write them.
    let text = random() < 0.6 ? `https://${pick(hosts.slice(0, 4))}/` : pick(schemes) + pick(hosts)
    const count = Math.floor(random() * 5)
    for (let n = 0; n < count; n++) text += pick(parts)
    const times = Math.max(0, Math.floor(random() * 4) - 1)
    for (let time = 0; time < times; time++) {
      const at = Math.floor(random() * (text.length + 1))
      const removed = random() < 0.3 ? 1 + Math.floor(random() * 3) : 0
      text = text.slice(0, at) + (random() < 0.8 ? pick(scraps) : "") + text.slice(at + removed)
    }
    return random() < 0.001 ? text + "a".repeat(2_060 - Math.floor(random() * 60)) : text
  }
}

const told = (result: ReturnType<typeof parse>): string =>
  Either.match(result, {
    onLeft: (error) => JSON.stringify(error),
    onRight: (url) => `stored as ${url}`
  })

/** Compares what is stored without being parsed with what the URL parser says, over `count` texts that follow from a seed. */
export const compare = (seed: number, count: number): UrlsReport => {
  const draw = urlsBy(randomBy(seed))
  const faults: Array<string> = []
  let plain = 0
  for (let n = 0; n < count; n++) {
    const text = draw()
    if (!isPlain(text)) continue
    plain++
    const [taken, parsed] = [told(parse(text, own)), told(parseAny(text, own))]
    if (taken !== parsed && faults.length < faultsMax) {
      faults.push(`${JSON.stringify(text)}: ${taken}, parsed: ${parsed}`)
    }
  }
  return { urls: count, plain, faults }
}
