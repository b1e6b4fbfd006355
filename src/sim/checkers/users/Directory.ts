import { emailKeyOf } from "../../../storage/accounts/AccountStore.ts"
import type { Checker, Evidence } from "../../Evidence.ts"
import type { Exchange } from "../../History.ts"

/** A user in the database, in microseconds since the world's beginning. */
interface Standing {
  readonly id: string
  readonly emailKey: string
  readonly added_us: number
  removed_us: number
}

const standingsOf = (journal: Evidence["journal"]): ReadonlyArray<Standing> => {
  const all: Array<Standing> = []
  for (const entry of journal) {
    const { at_us } = entry
    if (entry.tag === "user added")
      all.push({
        id: entry.user,
        emailKey: emailKeyOf(entry.email),
        added_us: at_us,
        removed_us: Number.POSITIVE_INFINITY
      })
    if (entry.tag === "user removed") all.findLast(({ id }) => id === entry.user)!.removed_us = at_us
  }
  return all
}

/**
 * A user is added where no other one has the address, in whatever case, and is refused only where one has. A list that is followed to its end has each user once who was there all the time, of that address where one
 * is asked for, and none who was not there.
 */
export const Directory: Checker = {
  name: "directory of users",
  check: ({ exchanges, journal }) => {
    const all = standingsOf(journal)
    const violation = (at_us: number, text: string, ...keys: ReadonlyArray<string>) => ({
      checker: Directory.name,
      at_us,
      text,
      keys
    })
    const wrongIn = ({ answered_us, email, since_us, sent_us }: Exchange, listed: ReadonlyArray<string>) => {
      const begun_us = since_us ?? sent_us
      const wanted = email === undefined ? undefined : emailKeyOf(email)
      const isWanted = ({ emailKey }: Standing) => wanted === undefined || emailKey === wanted
      const was = (one: Standing) => one.added_us <= answered_us! && one.removed_us >= begun_us
      const known = new Map(all.filter((one) => isWanted(one) && was(one)).map((one) => [one.id, one]))
      return [
        ...(new Set(listed).size < listed.length ? ["has a user twice"] : []),
        ...listed.flatMap((id) => (known.has(id) ? [] : [`has ${id}, who does not belong there`])),
        ...[...known.values()].flatMap(({ added_us, id, removed_us }) =>
          added_us < begun_us && removed_us > answered_us! && !listed.includes(id) ? [`is without ${id}`] : []
        )
      ]
    }
    return [
      ...all.flatMap(({ added_us, emailKey, id }, index) => {
        const other = all
          .slice(0, index)
          .find((one) => one.emailKey === emailKey && one.removed_us > added_us)
        return other === undefined
          ? []
          : [violation(added_us, `${id} was added with the address of ${other.id}`, id, other.id)]
      }),
      ...exchanges.flatMap((exchange) => {
        const { answered_us, answeredBy, email, kind, listed, number, sent_us, status } = exchange
        if (answered_us === undefined) return []
        const found = (text: string) => [violation(answered_us, `${text}, by ${answeredBy}`, `#${number}`)]
        if (kind === "users" && listed !== undefined)
          return wrongIn(exchange, listed).flatMap((text) => found(`a list of users ${text}`))
        if (kind !== "add user") return []
        if (status === 201)
          return all.some(({ added_us, id }) => id === listed![0] && added_us <= answered_us)
            ? []
            : found(`${email} was said to be added`)
        if (status !== 409) return []
        const emailKey = emailKeyOf(email!)
        return all.some(
          (one) => one.emailKey === emailKey && one.added_us <= answered_us && one.removed_us >= sent_us
        )
          ? []
          : found(`${email} was refused as somebody's, and is nobody's`)
      })
    ]
  }
}
