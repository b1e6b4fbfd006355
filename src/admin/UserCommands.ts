import { Command, Options } from "@effect/cli"
import { Console, Effect, Option } from "effect"
import { linkFates, Users } from "../accounts/Users.ts"
import { command as doer } from "../model/Audit.ts"
import * as Iso8601 from "../model/Iso8601.ts"
import { AccountStore, type User, type UserChange } from "../storage/accounts/AccountStore.ts"
import { AuditLog } from "../storage/accounts/AuditLog.ts"
import { LinkRemovals, removedAtOnce } from "../storage/links/LinkRemovals.ts"
import { Refused } from "./Refused.ts"

/** `--email`: the user that a command is about. */
export const email = Options.text("email").pipe(Options.withDescription("The user's e-mail address"))

/** The user with an address. */
export const userOf = (email: string) =>
  Effect.flatMap(AccountStore, (store) => store.userByEmail(email)).pipe(
    Effect.filterOrFail(
      (user): user is User => user !== null,
      () => new Refused({ message: `There is no user with the e-mail address ${email}.` })
    )
  )

/** Users, and entries of the audit log, that are shown at most. */
const shownMax = 500

const limit = Options.integer("limit").pipe(Options.withDefault(50))

const within = (limit: number) => Math.min(shownMax, Math.max(1, limit))

const isLast = (email: string) => new Refused({ message: `${email} is the last administrator that works.` })
const isGone = (email: string) => new Refused({ message: `${email} is gone.` })

const stateOf = ({ disabledAt, isAdmin }: User) =>
  [...(isAdmin ? ["administrator"] : []), ...(disabledAt === null ? [] : ["disabled"])].join(", ") || "user"

const users = Command.make(
  "users",
  { limit },
  Effect.fn(function* ({ limit }) {
    const found = yield* (yield* Users).list({ limit: within(limit) })
    for (const user of found) {
      const seen = user.lastLoginAt === null ? "never" : Iso8601.formatMoment(user.lastLoginAt)
      yield* Console.log(`${user.id}  ${user.email}  ${stateOf(user)}  last signed in: ${seen}`)
    }
  })
).pipe(Command.withDescription("Lists users, the newest first"))

/** A command that changes a user, and says so. */
const changing = (name: string, change: UserChange, description: string, done: string) =>
  Command.make(
    name,
    { email },
    Effect.fn(function* ({ email }) {
      const { change: apply } = yield* Users
      const changed = yield* apply((yield* userOf(email)).id, change, doer)
      if (changed === "last-administrator") return yield* isLast(email)
      if (changed === "nobody") return yield* isGone(email)
      yield* Console.log(`${email} ${done}`)
    })
  ).pipe(Command.withDescription(description))

const links = Options.choice("links", linkFates).pipe(
  Options.withDefault("keep"),
  Options.withDescription("Whether the links go on redirecting (keep) or are deleted as well")
)

const deleteUser = Command.make(
  "delete-user",
  { email, links },
  Effect.fn(function* ({ email, links }) {
    const { id } = yield* userOf(email)
    const removed = yield* (yield* Users).remove(id, links, doer)
    if (removed === "last-administrator") return yield* isLast(email)
    if (removed === "nobody") return yield* isGone(email)
    if (removed === "deployment") {
      return yield* new Refused({ message: `${email} is the service's own account. Disable it instead.` })
    }
    if (links === "delete") {
      const { remove } = yield* LinkRemovals
      yield* Effect.repeat(remove(removedAtOnce), { while: (keys) => keys.length > 0 })
    }
    yield* Console.log(
      `${email} (${id}) is gone. ${links === "delete" ? "The links are deleted." : "The links redirect as before."}`
    )
  })
).pipe(Command.withDescription("Deletes a user, with sessions, API keys and webhooks"))

const audit = Command.make(
  "audit",
  {
    email: Options.text("email").pipe(
      Options.optional,
      Options.withDescription("What this user did, and what was done to what is theirs")
    ),
    limit
  },
  Effect.fn(function* ({ email, limit }) {
    const log = yield* AuditLog
    const user = Option.isNone(email) ? undefined : (yield* userOf(email.value)).id
    for (const entry of yield* log.list({ user, limit: within(limit) })) {
      const { action, at, count, doer, owner, target } = entry
      const times = count === 1 ? "" : ` × ${count}`
      yield* Console.log(
        `${Iso8601.formatMoment(at)}  ${action}${times}  by ${doer.userId ?? doer.by}  to ${target ?? "-"} of ${owner ?? "-"}`
      )
    }
  })
).pipe(Command.withDescription("Shows the newest entries of the audit log"))

/** What is done to accounts. */
export const userCommands = [
  users,
  changing(
    "disable-user",
    { isDisabled: true },
    "Disables a user: ends the sessions, and API keys and webhooks work no more",
    "is disabled. Nodes that run know within a second"
  ),
  changing(
    "enable-user",
    { isDisabled: false },
    "Enables a user again, and the API keys",
    "is enabled. Sessions and webhooks must be created again"
  ),
  changing("grant-admin", { isAdmin: true }, "Makes a user an administrator", "is an administrator"),
  changing("withdraw-admin", { isAdmin: false }, "Makes an administrator a user", "is no administrator"),
  deleteUser,
  audit
] as const
