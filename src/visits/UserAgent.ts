import { BROWSER_MAP, OS_MAP, PLATFORMS_MAP, parse as parseBrowser } from "bowser"
import { isbot } from "isbot"

/** What a client says it is, in the names of `bowser`. */
export interface UserAgent {
  readonly isBot: boolean
  readonly browser: string
  readonly os: string
  readonly device: string
}

const unknown = "unknown"

const uniform = (isBot: boolean, name: string): UserAgent => ({
  isBot,
  browser: name,
  os: name,
  device: name
})

const bot = uniform(true, "bot")

/** `bowser` takes the name of a browser that it does not know from the text, which anybody can write. */
const known = (names: Record<string, string>) => {
  const all = new Set(Object.values(names))
  return (name: string | undefined) => (name !== undefined && all.has(name) ? name : unknown)
}

const browserName = known(BROWSER_MAP)
const osName = known(OS_MAP)
const deviceName = known(PLATFORMS_MAP)

/**
 * Reads a `User-Agent`. Without one, it is a bot: every browser sends it. A bot is a bot in every respect, whatever browser it claims to be.
 */
export const parse = (text: string | undefined): UserAgent => {
  if (text === undefined || text === "") return bot
  if (isbot(text)) return bot
  const { browser, os, platform } = parseBrowser(text)
  if (platform.type === PLATFORMS_MAP["bot"]) return bot
  return {
    isBot: false,
    browser: browserName(browser.name),
    os: osName(os.name),
    device: deviceName(platform.type)
  }
}
