import type { LinkCard } from "../../model/Link.ts"
import type { PreviewBody } from "../contract/LinkSchemas.ts"
import { coin } from "./Emblem.ts"
import type { Theme } from "./ThemeCookie.ts"
import type { VisitorFiles } from "./WebAssets.ts"
import { type Html, markup } from "./Html.ts"
import * as Words from "./Words.ts"
import { parseUrl } from "../../model/ParseUrl.ts"

/** The parts around the content of every page. */
export interface Frame {
  /** `undefined` where there is no web page: the page is plain then, and has no way home. */
  readonly files: VisitorFiles | undefined
  readonly theme: Theme
  /** Drawn behind the content if there is a stylesheet. */
  readonly engraving: Html
}

const loaded = ({ icon, stylesheet }: VisitorFiles): Html => {
  const iconLink = icon && markup`<link rel="icon" type="image/svg+xml" href="${icon}">\n`
  return markup`${iconLink}<link rel="stylesheet" href="${stylesheet}">\n`
}

const mark = markup`<svg class="icon" viewBox="0 0 24 24" width="28" height="28" fill="none" stroke="currentColor" stroke-width="1.7" aria-hidden="true"><path d="${coin}"/></svg>`

const brand = (hasHome: boolean): Html =>
  hasHome
    ? markup`<a class="brand" href="/">${mark}${Words.frame.brand}</a>`
    : markup`<span class="brand">${mark}${Words.frame.brand}</span>`

const page = ({ engraving, files, theme }: Frame, title: string, content: Html): Html => {
  const chosen = theme === "auto" ? undefined : markup` data-theme="${theme}"`
  return markup`<!doctype html>
<html lang="${Words.frame.language}"${chosen}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${theme === "auto" ? "light dark" : theme}">
<meta name="robots" content="noindex">
<title>${title} · ${Words.frame.brand}</title>
${files && loaded(files)}</head>
<body>
<header class="header">${brand(files !== undefined)}</header>
<main>
${content}${files && engraving}</main>
</body>
</html>
`
}

/** The buttons below a page's content: `first`, and the way home where there is one. */
const ways = ({ files }: Frame, first: Html | undefined): Html | undefined => {
  const look = first === undefined ? "button" : "button plain"
  const home = files && markup`<a class="${look}" href="/">${Words.frame.home}</a>`
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
  { advice, text, title }: Words.Message,
  { again }: { readonly again: boolean }
): Html => {
  const self = again ? markup`<a class="button strong" href="">${Words.frame.again}</a>` : undefined
  const content = markup`<h1>${title}</h1>
<p class="lead">${text}</p>
<p class="advice">${advice}</p>
${ways(frame, self)}`
  return page(frame, title, content)
}

/** A page that asks for a password. The form goes to the page's own address, which keeps the query string. */
export const passwordForm = (frame: Frame, why: "asked" | "wrong"): Html => {
  const { password } = Words
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

const target = (url: string): Html =>
  isOfWeb(url)
    ? markup`<dd class="address">${address(url)}</dd>
<dd class="hint">${Words.preview.host}</dd>`
    : markup`<dd class="address">${url}</dd>`

const open = (key: string, url: string | null): Html | undefined => {
  if (url === null) return markup`<a class="button strong" href="/${key}">${Words.preview.unlock}</a>`
  return isOfWeb(url)
    ? markup`<a class="button strong" rel="nofollow noreferrer" href="${url}">${Words.preview.open}</a>`
    : undefined
}

const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeZone: "UTC" })
const count = new Intl.NumberFormat("en-GB")

/** A page that shows where a link leads. The target is text; only a button links to it. */
export const preview = (
  frame: Frame,
  { createdAt, key, shortUrl, url, visits }: typeof PreviewBody.Type
): Html => {
  const { preview } = Words
  const content = markup`<h1>${preview.title}</h1>
<p class="lead">${preview.text} <strong class="address">${shortUrl}</strong></p>
<div class="note"><dl>
<div><dt>${preview.target}</dt>
${url === null ? markup`<dd>${preview.guarded}</dd>` : target(url)}</div>
<div><dt>${preview.created}</dt>
<dd><time datetime="${createdAt}">${day.format(Date.parse(createdAt))}</time></dd></div>
<div><dt>${preview.visits}</dt>
<dd>${count.format(visits)}</dd></div>
</dl></div>
${ways(frame, open(key, url))}`
  return page(frame, preview.title, content)
}
