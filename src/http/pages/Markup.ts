import type { LinkCard } from "../../model/Link.ts"
import type { PreviewBody } from "../contract/LinkSchemas.ts"
import { coin } from "./Emblem.ts"
import type { Theme } from "./ThemeCookie.ts"
import type { VisitorFiles } from "./WebAssets.ts"
import { type Html, markup } from "./Html.ts"
import type { BrandSettings } from "./Brand.ts"
import type { Message, VisitorWords } from "./Words.ts"
import { parseUrl } from "../../model/ParseUrl.ts"

/** The parts around the content of every page. */
export interface Frame {
  /** `undefined` where there is no web page: the page is plain then, and has no way home. */
  readonly files: VisitorFiles | undefined
  readonly theme: Theme
  /** The tag of the language (BCP 47) that `words` are in. */
  readonly language: string
  readonly words: VisitorWords
  readonly brand: Pick<BrandSettings, "footer" | "imprintUrl" | "name" | "privacyUrl">
  /** Drawn behind the content if there is a stylesheet. */
  readonly engraving: Html
}

const sheet = (address: string | undefined): Html | undefined =>
  address === undefined ? undefined : markup`<link rel="stylesheet" href="${address}">\n`

const loaded = ({ brand, icon, stylesheet }: VisitorFiles): Html => {
  const type = icon?.endsWith(".png") === true ? "image/png" : "image/svg+xml"
  const iconLink = icon && markup`<link rel="icon" type="${type}" href="${icon}">\n`
  return markup`${iconLink}${sheet(stylesheet)}${sheet(brand?.stylesheet)}`
}

const coinMark = markup`<svg class="icon" viewBox="0 0 24 24" width="28" height="28" fill="none" stroke="currentColor" stroke-width="1.7" aria-hidden="true"><path d="${coin}"/></svg>`

const brandOf = ({ brand, files }: Frame): Html => {
  const logo = files?.brand?.logo
  const mark =
    logo === undefined ? coinMark : markup`<img class="icon" src="${logo}" alt="" width="28" height="28">`
  return files === undefined
    ? markup`<span class="brand">${mark}${brand.name}</span>`
    : markup`<a class="brand" href="/">${mark}${brand.name}</a>`
}

/** What the operator wants below every page. */
const footerOf = ({ brand: { footer, imprintUrl, privacyUrl }, words }: Frame): Html | undefined => {
  const link = (url: string | undefined, text: string) =>
    url === undefined ? [] : [markup` <a href="${url}">${text}</a>`]
  const links = [...link(imprintUrl, words.frame.imprint), ...link(privacyUrl, words.frame.privacy)]
  if (footer === undefined && links.length === 0) return undefined
  return markup`<footer class="footer"><p>${footer}${links}</p></footer>\n`
}

const page = (frame: Frame, title: string, content: Html): Html => {
  const { brand, engraving, files, language, theme } = frame
  const chosen = theme === "auto" ? undefined : markup` data-theme="${theme}"`
  return markup`<!doctype html>
<html lang="${language}"${chosen}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${theme === "auto" ? "light dark" : theme}">
<meta name="robots" content="noindex">
<title>${title} · ${brand.name}</title>
${files && loaded(files)}</head>
<body>
<header class="header">${brandOf(frame)}</header>
<main>
${content}${files && engraving}</main>
${footerOf(frame)}</body>
</html>
`
}

/** The buttons below a page's content: `first`, and the way home where there is one. */
const ways = ({ files, words }: Frame, first: Html | undefined): Html | undefined => {
  const look = first === undefined ? "button" : "button plain"
  const home = files && markup`<a class="${look}" href="/">${words.frame.home}</a>`
  return first || home ? markup`<p class="actions">${first}${home}</p>\n` : undefined
}

/** A page that tells crawlers how to show a link (https://ogp.me; X takes what it has no name of its own for from there). `target`: where the link leads. */
export const card = ({ description, image, title }: LinkCard, target: string): Html => {
  const property = (name: string, content: string | undefined) =>
    content === undefined ? undefined : markup`<meta property="og:${name}" content="${content}">\n`
  const named = (name: string, content: string | undefined) =>
    content === undefined ? undefined : markup`<meta name="${name}" content="${content}">\n`
  return markup`<!doctype html>
<html>
<head>
<meta charset="utf-8">
<title>${title ?? target}</title>
${property("type", "website")}${property("title", title)}${property("description", description)}${property("image", image)}${named("description", description)}${named("twitter:card", image === undefined ? "summary" : "summary_large_image")}</head>
<body><p><a href="${target}">${title ?? target}</a></p></body>
</html>
`
}

/** A page with a message. `again` adds a button that repeats the request. */
export const message = (
  frame: Frame,
  { advice, text, title }: Message,
  { again }: { readonly again: boolean }
): Html => {
  const self = again ? markup`<a class="button strong" href="">${frame.words.frame.again}</a>` : undefined
  const content = markup`<h1>${title}</h1>
<p class="lead">${text}</p>
<p class="advice">${advice}</p>
${ways(frame, self)}`
  return page(frame, title, content)
}

/** A page that asks for a password. The form goes to the page's own address, which keeps the query string. */
export const passwordForm = (frame: Frame, why: "asked" | "wrong"): Html => {
  const { password } = frame.words
  const title = why === "asked" ? password.title : password.wrongTitle
  const invalid = why === "asked" ? undefined : markup` aria-invalid="true"`
  const note =
    why === "asked"
      ? markup`<p class="hint" id="note">${password.hint}</p>`
      : markup`<p class="fault" id="note">${password.wrong}</p>`
  const content = markup`<h1>${title}</h1>
<p class="lead">${password.text}</p>
<div class="card"><form method="post">
<div class="field"><label for="password">${password.label}</label>
<input type="password" name="password" id="password" required autofocus autocomplete="current-password" aria-describedby="note"${invalid}>
${note}</div>
<button class="button strong">${password.send}</button>
</form></div>
`
  return page(frame, title, content)
}

/** A second check, after that of creates: a page links to http and https alone. */
const isOfWeb = (url: string) => /^https?:\/\//.test(url) && parseUrl(url) !== undefined

/** A URL in full, with its host in bold. */
const address = (url: string): Html => {
  const { host } = new URL(url)
  const from = url.indexOf(host, url.indexOf("//") + 2)
  return markup`${url.slice(0, from)}<strong>${host}</strong>${url.slice(from + host.length)}`
}

const target = (url: string, varies: boolean, words: VisitorWords["preview"]): Html => {
  const others = varies
    ? markup`
<dd class="hint">${words.varies}</dd>`
    : undefined
  return isOfWeb(url)
    ? markup`<dd class="address">${address(url)}</dd>
<dd class="hint">${words.host}</dd>${others}`
    : markup`<dd class="address">${url}</dd>${others}`
}

const open = (key: string, url: string | null, words: VisitorWords["preview"]): Html | undefined => {
  if (url === null) return markup`<a class="button strong" href="/${key}">${words.unlock}</a>`
  return isOfWeb(url)
    ? markup`<a class="button strong" rel="nofollow noreferrer" href="${url}">${words.open}</a>`
    : undefined
}

/** How times and numbers are written, by language; made once for each. */
const formats = new Map<string, { readonly day: Intl.DateTimeFormat; readonly count: Intl.NumberFormat }>()

const formatsOf = (language: string) => {
  const known = formats.get(language)
  if (known !== undefined) return known
  const tag = language === "en" ? "en-GB" : language
  const made = {
    day: new Intl.DateTimeFormat(tag, { dateStyle: "long", timeZone: "UTC" }),
    count: new Intl.NumberFormat(tag)
  }
  formats.set(language, made)
  return made
}

/** A page that shows where a link leads. The target is text; only a button links to it. */
export const preview = (
  frame: Frame,
  { createdAt, key, shortUrl, url, varies, visits }: typeof PreviewBody.Type
): Html => {
  const { preview } = frame.words
  const { count, day } = formatsOf(frame.language)
  const content = markup`<h1>${preview.title}</h1>
<p class="lead">${preview.text} <strong class="address">${shortUrl}</strong></p>
<div class="note"><dl>
<div><dt>${preview.target}</dt>
${url === null ? markup`<dd>${preview.guarded}</dd>` : target(url, varies === true, preview)}</div>
<div><dt>${preview.created}</dt>
<dd><time datetime="${createdAt}">${day.format(Date.parse(createdAt))}</time></dd></div>
<div><dt>${preview.visits}</dt>
<dd>${count.format(visits)}</dd></div>
</dl></div>
${ways(frame, open(key, url, preview))}`
  return page(frame, preview.title, content)
}
