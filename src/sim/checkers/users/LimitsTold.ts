import type { Checker } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { sendersOf } from "../facts/senders.ts"

/** For how long clients may be asked to wait: until a minute's creates are there again, or a day's redirects. */
const waitMax_s = { create: 60, others: 24 * 3_600 }

/** Clocks of nodes and of databases may show other times of a minute or of a day. */
const slack_s = 1

const numberOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined

/** What is wrong with what a 429 or a 503 says of when to ask again, if anything. */
const wrongWait = ({ kind, status, told }: Exchange): string | undefined => {
  const seconds = numberOf(told?.retryAfter)
  const most_s = (kind === "create" ? waitMax_s.create : waitMax_s.others) + slack_s
  return seconds === undefined || seconds < 1 || seconds > most_s
    ? `was answered ${status}, and told to ask again in ${told?.retryAfter} s`
    : undefined
}

/** Who is refused for a quota, or since the service cannot answer, is told when to ask again, and of a quota how much is left: nothing then. A create tells which quota of its sender has the least left, and how much. */
export const LimitsTold: Checker = {
  name: "limits told",
  check: (evidence) => {
    const { exchanges, options } = evidence
    const senderOf = sendersOf(evidence)
    return exchanges.flatMap((exchange) => {
      const { answered_us, answeredBy, isReplay, kind, number, status, told } = exchange
      // Items of a bulk, and what the load balancer says by itself, tell nothing.
      if (answered_us === undefined || told === undefined) return []
      const violation = (text: string) => [
        {
          checker: LimitsTold.name,
          at_us: answered_us,
          text: `request ${number} (${kind}) ${text}, by ${answeredBy}`,
          keys: [`#${number}`]
        }
      ]
      if (status === 429 || status === 503) {
        const wrong = wrongWait(exchange)
        if (wrong !== undefined) return violation(wrong)
      }
      const { limit, remaining, reset } = told
      const said = `${remaining} of ${limit} are left, and all again in ${reset} s`
      const areNumbers = [limit, remaining, reset].every((one) => numberOf(one) !== undefined)
      if (status === 429)
        return areNumbers && remaining === "0" ? [] : violation(`was refused, and told that ${said}`)
      const { key, user } = senderOf(exchange)
      const isCounted = kind === "create" && status === 201 && !isReplay
      if (!isCounted || options.createsPerMinute === null || user === undefined) return []
      const limits = [options.createsPerMinute, key?.createsPerMinute].flatMap((one) => one ?? [])
      const isRight =
        areNumbers &&
        limits.includes(Number(limit)) &&
        Number(remaining) <= Number(limit) &&
        Number(reset) <= 61
      return isRight
        ? []
        : violation(`was told that ${said}, and may make ${limits.join(" or ")} in a minute`)
    })
  }
}
