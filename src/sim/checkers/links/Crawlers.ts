import { Duration } from "effect"
import { defaultDomain, domainKeyOf } from "../../../keys/QualifiedKey.ts"
import { keepFor } from "../../../http/pages/RobotsRoutes.ts"
import type { Checker, Violation } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"
import { ms_us, s_us } from "../../world/Time.ts"
import { mayBeAskedUnseen } from "../facts/remembered.ts"
import { isLasting, type Life, type Version, versionsIn } from "../facts/lives.ts"

/** How long after it was asked for what a node has read may be told still, and how long a request is on its way. */
const kept_us = Duration.toMillis(keepFor) * ms_us + s_us

/** How long after the end of a fault a database may be taken for one that is away. */
const aftermath_us = 6 * s_us

/** Whether crawlers may read a link, as long as it leads somewhere. */
const isCrawlable = ({ link }: Version): boolean => link.crawlable && link.passwordHash === null

const isThereIn = ({ bound_us, ended_us }: Life, from_us: number, until_us: number): boolean =>
  bound_us <= until_us && ended_us >= from_us

const listedIn = (body: string): ReadonlySet<string> =>
  new Set(Array.from(body.matchAll(/^Allow: \/(.+)\$$/gm), ([, key]) => key!))

/**
 * Crawlers are told of the links that are for them: of none that was not since the node may have looked, which is within the last minute, and of all that were there all that time. What is in a database that does not answer
 * may be missing.
 */
export const Crawlers: Checker = {
  name: "crawlers",
  check: (evidence) => {
    const { end_us, exchanges, journal, lives, strikes } = evidence
    const crawls = exchanges.filter(({ kind }) => kind === "crawl")
    if (crawls.length === 0) return []
    const mayBeUnseen = mayBeAskedUnseen(journal)
    /** From when on what a node tells may have been read. */
    const readSince_us = ({ answeredBy, sent_us }: Exchange) =>
      crawls.reduce(
        (since_us, one) =>
          (one.answeredBy === answeredBy || one.answeredBy === undefined || one.tries > 1) &&
          one.sent_us > sent_us - kept_us
            ? Math.min(since_us, one.sent_us)
            : since_us,
        mayBeUnseen(sent_us - kept_us, sent_us) ? sent_us - kept_us : sent_us
      )
    const inDefault = Array.from(lives).filter(([text]) => domainKeyOf(text).domain === defaultDomain)
    const aways = strikes.filter(({ name }) => /^(?:cutD|d)atabase/.test(name))
    const unanswered = journal.filter(({ tag }) => tag === "unanswered")
    const mayBeAway = (by: string, from_us: number, until_us: number) =>
      aways.some(({ at_us, for_us }) => at_us <= until_us && at_us + for_us + aftermath_us >= from_us) ||
      unanswered.some((entry) => entry.by === by && entry.at_us >= from_us && entry.at_us <= until_us)
    return crawls.flatMap((exchange): ReadonlyArray<Violation> => {
      const { answered_us = end_us, answeredBy = "", body, number } = exchange
      if (body === undefined) return []
      const since_us = readSince_us(exchange)
      const found = (key: string, text: string): Violation => ({
        checker: Crawlers.name,
        at_us: answered_us,
        text: `crawlers ${text} (request ${number}), by ${answeredBy}`,
        keys: [key, `#${number}`]
      })
      const listed = listedIn(body)
      const wrong = Array.from(listed).filter((key) => {
        const all = lives.get(key)
        return (
          all !== undefined &&
          !all.some(
            (life) =>
              isThereIn(life, since_us, answered_us) &&
              versionsIn(life, since_us, answered_us).some(isCrawlable)
          )
        )
      })
      const missing = mayBeAway(answeredBy, since_us, answered_us)
        ? []
        : inDefault.filter(
            ([key, all]) =>
              !listed.has(key) &&
              all.some(
                (life) =>
                  life.bound_us < since_us &&
                  life.ended_us > answered_us &&
                  versionsIn(life, since_us, answered_us).every(
                    (version) => isCrawlable(version) && isLasting(version)
                  )
              )
          )
      return [
        ...wrong.map((key) => found(key, `are told of ${key}, which is not for them`)),
        ...missing.map(([key]) => found(key, `are not told of ${key}`))
      ]
    })
  }
}
