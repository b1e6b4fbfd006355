import { scopes } from "../../../accounts/Access.ts"
import { administrator, emailOf } from "../../deployment/Users.ts"
import type { Checker } from "../../Evidence.ts"
import { sendersOf } from "../facts/senders.ts"

/** What is read of a quota, and of the answer to who one is. */
interface Quota {
  readonly limit: number
  readonly used: number
  readonly remaining: number
}
interface Me {
  readonly id: string
  readonly email: string
  readonly scopes: ReadonlyArray<string>
  readonly passwordChangeRequired: boolean
  readonly quotas: { readonly createsPerMinute: Quota | null; readonly redirectsPerDay: Quota | null }
}

const isOf = (quota: Quota | null, limit: number | null): boolean =>
  quota === null
    ? limit === null
    : quota.limit === limit &&
      quota.used + quota.remaining === limit &&
      quota.remaining >= 0 &&
      quota.used >= 0

/** Users are told who they are, what they may, which quotas they have, and whether they must choose another password. */
export const OwnAccounts: Checker = {
  name: "own accounts",
  check: (evidence) => {
    const { exchanges, journal, options } = evidence
    const senderOf = sendersOf(evidence)
    /** Whether the password of a user may have been, or not have been, one to be changed in a time. */
    const mustChange = (name: string, from_us: number, to_us: number): ReadonlyArray<boolean> => {
      const changes = journal.flatMap((entry) =>
        entry.tag === "password changed" && entry.user === name && entry.at_us <= to_us ? [entry] : []
      )
      const before = changes.findLast(({ at_us }) => at_us < from_us)
      return [
        before?.isTemporary === true,
        ...changes.filter(({ at_us }) => at_us >= from_us).map(({ isTemporary }) => isTemporary)
      ]
    }
    return exchanges.flatMap((exchange) => {
      const { answered_us, answeredBy, body, kind, number, sent_us, status } = exchange
      const { user } = senderOf(exchange)
      if (kind !== "account" || status !== 200 || body === undefined || user === undefined) return []
      const me = JSON.parse(body) as Me
      const may = scopes.filter((scope) => scope !== "admin" || user === administrator)
      const { createsPerMinute, redirectsPerDay } = me.quotas
      const wrong = [
        ...(me.id === user && me.email === emailOf(user) ? [] : [`is taken for ${me.id}, ${me.email}`]),
        ...(me.scopes.toSorted().join() === may.toSorted().join() ? [] : [`may ${me.scopes.join(", ")}`]),
        ...(isOf(createsPerMinute, options.createsPerMinute) && isOf(redirectsPerDay, options.redirectsPerDay)
          ? []
          : [`has the quotas ${JSON.stringify(me.quotas)}`]),
        ...(mustChange(user, sent_us, answered_us!).includes(me.passwordChangeRequired)
          ? []
          : [`${me.passwordChangeRequired ? "must" : "need not"} choose another password`])
      ]
      return wrong.map((text) => ({
        checker: OwnAccounts.name,
        at_us: answered_us!,
        text: `${user} ${text}, said ${answeredBy} (request ${number})`,
        keys: [`#${number}`]
      }))
    })
  }
}
