import type { Checker, Violation } from "../../Evidence.ts"
import { answersOf } from "../facts/answers.ts"
import type { Moments } from "../facts/conditions.ts"
import { databaseTime } from "../facts/databaseTime.ts"
import { domainsUnread } from "../facts/domainReads.ts"
import { isLasting, type Version, visitsElsewhere } from "../facts/lives.ts"
import { wrongTotalsOf } from "../facts/shown.ts"
import { isTarget, mayBeBlocked } from "../facts/targets.ts"

const s_ms = 1_000

/** What is read of a preview. */
interface Preview {
  /** `null`: the link has a password. */
  readonly url: string | null
  readonly varies?: true
  readonly createdAt: string
  readonly visits: number
}

/** Whether a link leads different visitors elsewhere. */
const varies = ({ link: { extras } }: Version): boolean =>
  extras?.rules !== undefined || extras?.variants !== undefined

/** Whether a preview shows a version of a link, but for its visits. */
const shows = (preview: Preview, version: Version): boolean =>
  Date.parse(preview.createdAt) === version.link.createdAt &&
  (preview.varies === true) === varies(version) &&
  (version.link.passwordHash === null
    ? preview.url !== null && isTarget(version.link, preview.url)
    : preview.url === null)

/** Whether a link may have led somewhere at some of these moments: its preview is answered like a redirect. A node may go on for a second after its end. */
const mayLead = ({ link: { expiresAt, validSince } }: Version, { least_ms, most_ms }: Moments): boolean =>
  (validSince === null || validSince <= most_ms) && (expiresAt === null || least_ms < expiresAt + s_ms)

/** Anybody is shown where a link leads, as it is or was within the last second, and of one with a password that it has one. A preview has no more visits than there were, and no fewer than the store had taken, beside those that its link brought along. */
export const Previews: Checker = {
  name: "previews",
  check: (evidence) => {
    const { exchanges, lives } = evidence
    const asked = exchanges.filter(({ kind }) => kind === "preview")
    if (asked.length === 0) return []
    const { isThere, livesFor, versionsOf } = answersOf(evidence)
    const isUnread = domainsUnread(evidence)
    const wrongTotal = wrongTotalsOf(evidence)
    const time = databaseTime(evidence)
    return asked.flatMap((exchange): ReadonlyArray<Violation> => {
      const { answered_us, answeredBy, body, key, number, sent_us, status } = exchange
      if (key === undefined || answered_us === undefined) return []
      const found = (text: string) => [
        {
          checker: Previews.name,
          at_us: answered_us,
          text: `the preview of ${key} ${text} (request ${number}), by ${answeredBy}`,
          keys: [key, `#${number}`]
        }
      ]
      const all = lives.get(key)
      // Where a node has not read that aliases can have several segments, it shows the one of the first.
      if (all === undefined || (key.includes("/") && isUnread(answeredBy, sent_us))) return []
      const may = versionsOf(all, exchange)
      if (status === 410 && mayBeBlocked(may, answered_us)) return []
      if (status === 404 || status === 410)
        return isThere(all, exchange) && may.every(isLasting)
          ? found("is of no link, and it was created")
          : []
      if (status !== 200 || body === undefined) return []
      const preview = JSON.parse(body) as Preview
      const moments = time.moments(answeredBy, sent_us, answered_us)
      if (!may.some((version) => shows(preview, version) && mayLead(version, moments)))
        return found(`is as it should not be any more, or not yet: ${body}`)
      const told = livesFor(all, exchange)
      // Which of several it is may be unknown, and so what it brought along.
      const elsewhere = new Set(told.map(visitsElsewhere))
      if (elsewhere.size > 1) return []
      const [before = 0] = elsewhere
      const wrong = wrongTotal(all, told, { answered_us, sent_us }, { total: preview.visits - before })
      return wrong === undefined ? [] : found(wrong)
    })
  }
}
