import type { Checker } from "../../Evidence.ts"
import { administrator } from "../../deployment/Users.ts"

/** The last user who is an administrator stays one: who asks to disable or remove them, or to take their role, is told so. */
export const LastAdministrator: Checker = {
  name: "last administrator",
  check: ({ end_us, exchanges }) =>
    exchanges.flatMap(({ answered_us = end_us, answeredBy, kind, number, status, user }) => {
      const isToEnd = (kind === "change user" || kind === "remove user") && user === administrator
      if (!isToEnd || status === 0 || status >= 500 || status === 409) return []
      return [
        {
          checker: LastAdministrator.name,
          at_us: answered_us,
          text: `that the last administrator ends was answered ${status} by ${answeredBy}`,
          keys: [`#${number}`]
        }
      ]
    })
}
