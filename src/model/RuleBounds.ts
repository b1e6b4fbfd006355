// What rules and variants of a link may be. The web page has the same, so nothing is imported here.

/** Rules of a link at most. */
export const rulesMax = 20

/** Variants of a link. */
export const variantsMin = 2
export const variantsMax = 10

/** The weight of a variant at most. */
export const weightMax = 1_000

/** Devices as visits are counted by them; every client that is a bot is the device `bot`, and has no system. */
export const deviceNames = ["desktop", "mobile", "tablet", "tv", "bot"] as const

/** Systems that a condition can name, as visits are counted by them. */
export const osNames = [
  "Android",
  "Chrome OS",
  "HarmonyOS",
  "iOS",
  "Linux",
  "macOS",
  "Tizen",
  "WebOS",
  "Windows"
] as const
