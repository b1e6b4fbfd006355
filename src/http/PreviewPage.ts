import * as Iso8601 from "../Iso8601.ts"
import type { Link } from "../Link.ts"
import { type Answer, flatten } from "./Answer.ts"
import type { PreviewBody } from "./LinkSchemas.ts"
import * as Page from "./Page.ts"

/** What anybody may know of a link. Where a password guards it, that is not where it leads. */
export const bodyOf = (link: Link, shortUrl: string, visits: number): typeof PreviewBody.Type => ({
  key: link.key,
  shortUrl,
  url: link.passwordHash === null ? link.url : null,
  createdAt: Iso8601.formatMoment(link.createdAt),
  visits
})

const page = ({ createdAt, shortUrl, url, visits }: typeof PreviewBody.Type) => {
  const target =
    url === null
      ? "<p>A password guards where it leads.</p>"
      : `<p>It leads to <a rel="nofollow noreferrer" href="${Page.escape(url)}">${Page.escape(url)}</a></p>`
  return Page.make({
    title: "Preview",
    text: `This is the short link ${shortUrl}`,
    html: `${target}
<p>Created: <time datetime="${createdAt}">${createdAt.slice(0, 10)}</time>. Visits: ${visits}.</p>
`
  })
}

/** Shows a preview, as a page or as JSON. */
export const answer = (preview: typeof PreviewBody.Type, asJson: boolean): Answer =>
  asJson
    ? {
        status: 200,
        headers: flatten({
          "content-type": "application/json",
          "cache-control": "no-store",
          vary: "accept"
        }),
        body: JSON.stringify(preview)
      }
    : Page.answer(page(preview), 200)
