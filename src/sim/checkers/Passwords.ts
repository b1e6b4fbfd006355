import type { Checker, Violation } from "../Evidence.ts"
import { lifeLedBy } from "./facts/lives.ts"

/** A link with a password leads those who give it, and nobody else; no other link asks for one. */
export const Passwords: Checker = {
  name: "passwords of links",
  check: ({ exchanges, lives }) =>
    exchanges.flatMap(
      ({
        answered_us,
        answeredBy,
        isRight,
        key,
        kind,
        location,
        number,
        status
      }): ReadonlyArray<Violation> => {
        if (kind !== "redirect" || key === undefined || answered_us === undefined) return []
        const found = (text: string) => [
          {
            checker: Passwords.name,
            at_us: answered_us,
            text: `${key} ${text} (request ${number}), by ${answeredBy}`,
            keys: [key]
          }
        ]
        if (status === 302) {
          const life = lifeLedBy(lives, key, location, answered_us)
          return isRight === true || life === undefined || life.link.passwordHash === null
            ? []
            : found(`led somebody ${isRight === undefined ? "without its" : "with a wrong"} password`)
        }
        if (status !== 401) return []
        if (isRight === true) return found("refused its password")
        const all = lives.get(key)
        return all === undefined || all.some(({ link }) => link.passwordHash !== null)
          ? []
          : found("asked for a password, and has none")
      }
    )
}
