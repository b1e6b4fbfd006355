import type { Checker, Violation } from "../../Evidence.ts"

/** Answers that say nothing of what is wrong: none came, there were too many requests, the link is gone, or nobody could answer. */
const isOpen = (status: number, kind: string): boolean =>
  status === 0 || status === 429 || status >= 500 || (kind === "change" && status === 404)

/** What is read of a problem. */
interface Problem {
  readonly type?: string
  readonly errors?: ReadonlyArray<{ readonly path: string }>
}

/**
 * A create or a change that is wrong is answered as documented, with the field that is to be blamed, by itself or in a bulk, and nothing of it is stored: each has a title that no other one gives. No other change
 * is refused, but those by which a link would begin only when it has ended.
 */
export const Refusals: Checker = {
  name: "refusals",
  check: ({ exchanges, journal, lives }) => {
    const violations: Array<Violation> = []
    const wrong = new Map<string, string>()
    for (const exchange of exchanges) {
      const { alias, answered_us, answeredBy, body, choices, key, kind, number, refusal, status } = exchange
      if (answered_us === undefined) continue
      const found = (text: string) =>
        violations.push({
          checker: Refusals.name,
          at_us: answered_us,
          text: `request ${number} (${kind}) ${text}, by ${answeredBy}`,
          keys: [key ?? alias ?? "", `#${number}`]
        })
      if (refusal === undefined) {
        if (kind !== "change" || status !== 400 || key === undefined) continue
        const { validSince } = choices ?? {}
        const mayEndBefore =
          typeof validSince === "string" &&
          lives
            .get(key)
            ?.some(({ link }) => link.expiresAt !== null && Date.parse(validSince) >= link.expiresAt)
        if (mayEndBefore !== true) found(`was refused: ${JSON.stringify(choices)}`)
        continue
      }
      wrong.set(choices!.title!, JSON.stringify(refusal.body).slice(0, 200))
      if (isOpen(status, kind)) continue
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
