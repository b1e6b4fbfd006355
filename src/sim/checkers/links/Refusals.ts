import { endOf } from "../../clients/Lasting.ts"
import type { Checker, Violation } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { databaseTime } from "../facts/databaseTime.ts"
import { type Known, knownOf } from "../facts/known.ts"
import { lifeLeftBy, type Lives, versionLeftBy } from "../facts/lives.ts"

/** Answers that say nothing of what is wrong: none came, there were too many requests, the link is gone, nobody could answer, or who asks may not, as `Permissions` judges. */
const isOpen = ({ apiKey, kind, status }: Exchange): boolean =>
  status === 0 ||
  status === 429 ||
  status >= 500 ||
  (kind === "change" && status === 404) ||
  (apiKey !== undefined && (status === 401 || status === 403))

/** What is read of a problem. */
interface Problem {
  readonly type?: string
  readonly errors?: ReadonlyArray<{ readonly path: string }>
}

/** Whether a create or a change says when its link begins or ends, and leaves one that begins only when it has ended, whichever state of it the node may have checked. */
const neverBegins = (exchange: Exchange, lives: Lives, { versionsFor }: Known): boolean => {
  const { choices, expiresAt, key, lasts } = exchange
  const saysBeginning = typeof choices?.validSince === "string"
  const saysEnd = typeof expiresAt === "string" || lasts !== undefined
  if (!saysBeginning && !saysEnd) return false
  const life = lifeLeftBy(lives, key!, exchange)
  if (life === undefined) return false
  const index = versionLeftBy(life, exchange)
  const { link } = life.versions[index]!
  const [begins, ends] = [link.validSince, link.expiresAt]
  if (begins === null || ends === null || begins < ends) return false
  const before = new Set(life.versions.slice(0, index))
  return versionsFor(life, exchange)
    .filter((version) => before.has(version))
    .every(
      ({ link: before }) =>
        (saysBeginning || (before.validSince !== null && before.validSince >= ends)) &&
        (saysEnd || (before.expiresAt !== null && before.expiresAt <= begins))
    )
}

/**
 * A create or a change that is wrong is answered as documented, with the field that is to be blamed, by itself or in a bulk, and nothing of it is stored: each has a title that no other one gives. No other change
 * is refused, but those by which a link would begin only when it has ended; those are.
 */
export const Refusals: Checker = {
  name: "refusals",
  check: (evidence) => {
    const { exchanges, journal, lives } = evidence
    const time = databaseTime(evidence)
    const known = knownOf(evidence)
    const violations: Array<Violation> = []
    /** Whether a change may leave a link that would begin only when it has ended, or one that has ended. */
    const mayEndBefore = ({ answered_us, answeredBy, choices, expiresAt, key, lasts, sent_us }: Exchange) => {
      if (choices?.validSince === undefined && expiresAt === undefined && lasts === undefined) return false
      const { least_ms, most_ms } = time.moments(answeredBy, sent_us, answered_us!)
      const versions = lives.get(key!)?.flatMap((life) => life.versions) ?? []
      return versions.some(({ link }) => {
        const validSince = choices?.validSince
        const begins = typeof validSince === "string" ? Date.parse(validSince) : link.validSince
        const ends =
          typeof expiresAt === "string"
            ? Date.parse(expiresAt)
            : lasts === undefined
              ? link.expiresAt
              : endOf(Math.floor(least_ms), lasts)
        return ends !== null && ((begins ?? 0) >= ends || ends <= most_ms)
      })
    }
    const wrong = new Map<string, string>()
    for (const exchange of exchanges) {
      const {
        alias,
        answered_us,
        answeredBy,
        body,
        choices,
        expiresAt,
        key,
        kind,
        lasts,
        number,
        refusal,
        status
      } = exchange
      if (answered_us === undefined) continue
      const found = (text: string) =>
        violations.push({
          checker: Refusals.name,
          at_us: answered_us,
          text: `request ${number} (${kind}) ${text}, by ${answeredBy}`,
          keys: [key ?? alias ?? "", `#${number}`]
        })
      if (refusal === undefined) {
        if ((status === 200 || status === 201) && key !== undefined && neverBegins(exchange, lives, known))
          found("left a link that begins only when it has ended")
        if (kind === "change" && status === 400 && !mayEndBefore(exchange))
          found(`was refused: ${JSON.stringify({ ...choices, lasts, expiresAt })}`)
        continue
      }
      wrong.set(choices!.title!, JSON.stringify(refusal.body).slice(0, 200))
      if (isOpen(exchange)) continue
      const { errors = [], type } = body === undefined ? {} : (JSON.parse(body) as Problem)
      const isRight =
        status === refusal.status &&
        type?.endsWith(`/${refusal.type}`) === true &&
        errors.some(({ path }) => path === refusal.path)
      if (!isRight)
        found(
          `should have been refused (${refusal.status} ${refusal.type}, ${refusal.path}), and was answered ${status} ${type ?? ""} ${JSON.stringify(errors)}: ${JSON.stringify(refusal.body).slice(0, 200)}`
        )
    }
    for (const entry of journal) {
      if (entry.tag !== "bound" && entry.tag !== "changed") continue
      const { key, title } = entry.link
      const body = title === null ? undefined : wrong.get(title)
      if (body !== undefined)
        violations.push({
          checker: Refusals.name,
          at_us: entry.at_us,
          text: `${key} was ${entry.tag} by what is to be refused: ${body}`,
          keys: [key]
        })
    }
    return violations
  }
}
