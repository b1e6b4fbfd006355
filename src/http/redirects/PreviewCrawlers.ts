/**
 * The crawlers by which chats and social sites read a page to draw its preview, by what their `User-Agent` has in it. Each is as its operator documents it, or sends it. None is of a search
 * engine, and none is in the `User-Agent` of the browser that an app shows pages in to people: those say `Pinterest/iOS` or `LinkedInApp`, for instance.
 */
const tokens: ReadonlyArray<string> = [
  "bluesky cardyb/",
  "discordbot/",
  "embedly/",
  "facebookexternalhit/",
  "iframely/",
  "kakaotalk-scrap/",
  "linkedinbot/",
  "mastodon/",
  "matrix-org/synapse",
  "mattermost-bot/",
  "microsoftpreview/",
  "misskey/",
  "pinterestbot/",
  "pleroma ",
  "redditbot/",
  "skypeuripreview",
  "slackbot",
  "snap url preview service",
  "telegrambot",
  "twitterbot/",
  "vkshare"
]

/** Of apps whose crawlers begin with the app's name, which people's browsers have elsewhere in the text, if at all. */
const beginnings: ReadonlyArray<string> = ["viber/", "whatsapp/"]

/** Characters of a `User-Agent` that are looked at. */
const lookedAtMax = 512

/** Whether a `User-Agent` is that of a crawler that draws previews. */
export const isPreviewCrawler = (userAgent: string | undefined): boolean => {
  if (userAgent === undefined) return false
  const text = userAgent.slice(0, lookedAtMax).toLowerCase()
  return (
    tokens.some((token) => text.includes(token)) || beginnings.some((beginning) => text.startsWith(beginning))
  )
}
