import { describe, expect, it } from "@effect/vitest"
import * as Referrer from "../../src/visits/Referrer.ts"
import * as UserAgent from "../../src/visits/UserAgent.ts"

const browsers: ReadonlyArray<readonly [userAgent: string, browser: string, os: string, device: string]> = [
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36",
    "Chrome",
    "Windows",
    "desktop"
  ],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36 Edg/126.0.0.0",
    "Microsoft Edge",
    "Windows",
    "desktop"
  ],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15",
    "Safari",
    "macOS",
    "desktop"
  ],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox", "Linux", "desktop"],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
    "Safari",
    "iOS",
    "mobile"
  ],
  [
    "Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1",
    "Safari",
    "iOS",
    "tablet"
  ],
  [
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Mobile Safari/537.36",
    "Chrome",
    "Android",
    "mobile"
  ],
  [
    "Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36",
    "Samsung Internet for Android",
    "Android",
    "mobile"
  ],
  [
    "Mozilla/5.0 (SMART-TV; Linux; Tizen 6.0) AppleWebKit/538.1 (KHTML, like Gecko) Version/6.0 TV Safari/538.1",
    "Tizen",
    "Tizen",
    "tv"
  ]
]

const bots: ReadonlyArray<string | undefined> = [
  "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.0.0 Safari/537.36",
  "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)",
  "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
  "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/126.0.0.0 Safari/537.36",
  "curl/8.8.0",
  "python-requests/2.32.3",
  "",
  undefined
]

describe("a User-Agent", () => {
  for (const [userAgent, browser, os, device] of browsers) {
    it(`is ${browser} on ${os}, ${device}: ${userAgent}`, () => {
      expect(UserAgent.parse(userAgent)).toMatchObject({ isBot: false, browser, os, device })
    })
  }

  for (const userAgent of bots) {
    it(`is a bot's: ${userAgent ?? "(none)"}`, () => {
      const bot = "bot"
      expect(UserAgent.parse(userAgent)).toMatchObject({ isBot: true, browser: bot, os: bot, device: bot })
    })
  }

  it("of a browser that is not known gives no name that its sender wrote", () => {
    const unknown = "unknown"
    expect(UserAgent.parse("Mozilla/5.0 (Haiku; x) SellingThings/1.0 (buy now)")).toMatchObject({
      isBot: false,
      browser: unknown,
      os: unknown,
      device: unknown
    })
  })
})

const referrers: Readonly<Record<string, string | undefined>> = {
  "": "direct",
  "https://www.Example.COM/path?query#hash": "www.example.com",
  "http://example.com:8080": "example.com",
  "https://example.com./": "example.com",
  "https://user:password@example.com/": "example.com",
  "https://münchen.example/": "xn--mnchen-3ya.example",
  "android-app://com.google.android.gm/": "com.google.android.gm",
  "https://sho.rt/abc": "internal",
  "http://SHO.RT:8080/": "internal",
  "https://not-sho.rt/": "not-sho.rt",
  "https://203.0.113.9/": undefined,
  "https://[2001:db8::1]/": undefined,
  "https://3405803785/": undefined,
  "https://direct/": undefined,
  "https://other/": undefined,
  "about:blank": undefined,
  "x://a b/": undefined,
  "x://%00%ff/": undefined,
  "no URL": undefined,
  [`https://${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.${"e".repeat(60)}/`]:
    undefined
}

describe("a Referer", () => {
  for (const [text, value] of Object.entries(referrers)) {
    it(`counts as ${value ?? "none that is kept"}: ${text.slice(0, 60)}`, () => {
      expect(Referrer.parse(text, "sho.rt")).toBe(value)
    })
  }

  it("counts as direct where there is none", () => {
    expect(Referrer.parse(undefined, "sho.rt")).toBe("direct")
  })
})
