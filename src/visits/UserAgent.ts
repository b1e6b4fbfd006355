import { createHash } from "node:crypto"
import { BROWSER_MAP, OS_MAP, PLATFORMS_MAP, parse as parseBrowser } from "bowser"
import { isbot } from "isbot"
import { remembering } from "../fibers/Remembered.ts"
import type { Digest } from "./VisitorHash.ts"

/** Characters of a `User-Agent` at most; a longer one counts as none. */
export const lengthMax = 1_024

/** Different ones whose results are cached: many visits have the same one. */
const rememberedMax = 4_096

/** What a client says it is, in the names of `bowser`. */
export interface UserAgent {
  readonly isBot: boolean
  readonly browser: string
  readonly os: string
  readonly device: string
  /** Of the text, where it is no bot's. */
  readonly digest: Digest
}

const unknown = "unknown"

const botName = "bot"

const bot: UserAgent = {
  isBot: true,
  browser: botName,
  os: botName,
  device: botName,
  digest: [0, 0]
}

const digestOf = (text: string): Digest => {
  const bytes = createHash("sha256").update(text).digest()
  return [bytes.readInt32LE(0), bytes.readInt32LE(4)]
}

/** Only the names that `bowser` knows: it copies other names from the header, which anybody can write. */
const known = (names: Record<string, string>) => {
  const all = new Set(Object.values(names))
  return (name: string | undefined) => (name !== undefined && all.has(name) ? name : unknown)
}

const browserName = known(BROWSER_MAP)
const osName = known(OS_MAP)
const deviceName = known(PLATFORMS_MAP)

const parseText = remembering(rememberedMax, (text): UserAgent => {
  if (isbot(text)) return bot
  const { browser, os, platform } = parseBrowser(text)
  if (platform.type === PLATFORMS_MAP["bot"]) return bot
  return {
    isBot: false,
    browser: browserName(browser.name),
    os: osName(os.name),
    device: deviceName(platform.type),
    digest: digestOf(text)
  }
})

/**
 * Parses a `User-Agent`. A request without one is a bot's: every browser sends it. A bot is `bot` in every respect, whatever browser it claims to be.
 */
export const parse = (text: string | undefined): UserAgent =>
  text === undefined || text === "" || text.length > lengthMax ? bot : parseText(text)
