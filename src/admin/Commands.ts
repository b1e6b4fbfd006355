import { Command, Options } from "@effect/cli"
import { Console, Effect, Either, type Layer, Number as Numbers, Option, Record, Redacted } from "effect"
import { scopes as allScopes } from "../accounts/Access.ts"
import { command as doer } from "../model/Audit.ts"
import { Accounts, keysMax } from "../accounts/Accounts.ts"
import type { PasswordRefused } from "../accounts/PasswordPolicy.ts"
import { NewKeyBody, NewUserBody } from "../http/contract/AccountSchemas.ts"
import * as Decode from "../http/exchange/Decode.ts"
import type { Problem } from "../http/exchange/Problem.ts"
import * as Iso8601 from "../model/Iso8601.ts"
import * as Secret from "../secrets/Secret.ts"
import { KeyFile } from "../storage/keys/KeyFile.ts"
import { KeyPool } from "../storage/keys/KeyPool.ts"
import * as KeyLedger from "../storage/keys/KeyLedger.ts"
import { LinkStore } from "../storage/links/LinkStore.ts"
import { aliasesWithCapitals } from "./CapitalsCommand.ts"
import { Refused } from "./Refused.ts"
import { email, userCommands, userOf } from "./UserCommands.ts"

const decodeNewUser = Decode.body(NewUserBody)
const decodeNewKey = Decode.body(NewKeyBody)

/** Links that are shown at most. */
const linksMax = 500

const orRefuse = <A>(decoded: Either.Either<A, Problem>) =>
  Either.mapLeft(decoded, ({ detail }) => new Refused({ message: detail }))

const refusedPassword = ({ message }: PasswordRefused) => new Refused({ message: `password ${message}` })

const password = Options.redacted("password").pipe(
  Options.optional,
  Options.withDescription("12 to 128 characters; without it one is drawn and shown")
)
const name = (what: string) => Options.text(what).pipe(Options.optional)

/** The given password, or one that is drawn and shown: then its user has to choose another one. */
const passwordOr = Option.match({
  onNone: () =>
    Effect.map(Secret.draw(15), (bytes) => {
      const drawn = bytes.toString("base64url")
      return {
        password: drawn,
        passwordIsTemporary: true,
        shown: `, password shown this once: ${drawn}\nIt must be changed at the first sign-in.`
      }
    }),
  onSome: (password: Redacted.Redacted) =>
    Effect.succeed({ password: Redacted.value(password), passwordIsTemporary: false, shown: "" })
})

const addUser = Command.make(
  "add-user",
  {
    email,
    password,
    firstName: name("first-name"),
    middleName: name("middle-name"),
    lastName: name("last-name"),
    admin: Options.boolean("admin").pipe(Options.withDescription("Makes an administrator"))
  },
  Effect.fn(function* ({ admin, email, password, ...names }) {
    const accounts = yield* Accounts
    const { passwordIsTemporary, shown, ...chosen } = yield* passwordOr(password)
    const body = yield* orRefuse(decodeNewUser({ email, ...chosen, ...Record.getSomes(names) }))
    const { firstName = null, lastName = null, middleName = null } = body
    const draft = { email, firstName, middleName, lastName, password: Redacted.make(body.password) }
    const user = yield* Effect.catchTag(
      accounts.addUser(draft, doer, { isAdmin: admin, passwordIsTemporary }),
      "PasswordRefused",
      refusedPassword
    )
    if (user === null) return yield* new Refused({ message: `${email} belongs to an account already.` })
    yield* Console.log(`Added ${user.email} (${user.id})${shown}`)
  })
).pipe(Command.withDescription("Adds a user"))

const setPassword = Command.make(
  "set-password",
  {
    email,
    password,
    keepKeys: Options.boolean("keep-keys").pipe(
      Options.withDescription("Ends the sessions alone: API keys and webhooks go on")
    )
  },
  Effect.fn(function* ({ email, keepKeys, password }) {
    const accounts = yield* Accounts
    const { passwordIsTemporary, shown, ...chosen } = yield* passwordOr(password)
    yield* userOf(email)
    const body = yield* orRefuse(decodeNewUser({ email, ...chosen }))
    const change = { passwordIsTemporary, revokesKeys: !keepKeys }
    const set = accounts.setPassword(email, Redacted.make(body.password), doer, change)
    yield* Effect.catchTag(set, "PasswordRefused", refusedPassword)
    const ended = keepKeys ? "no sessions" : "no sessions, API keys and webhooks"
    yield* Console.log(`${email} has a new password, and ${ended} any more${shown}`)
  })
).pipe(Command.withDescription("Sets a user's password, and ends what the old one has opened"))

const addKey = Command.make(
  "add-key",
  {
    email,
    name: Options.text("name").pipe(Options.withDefault("made on the command line")),
    scopes: Options.choice("scope", allScopes).pipe(
      Options.atLeast(1),
      Options.withDescription("What the key allows; can be given several times")
    ),
    createsPerMinute: Options.integer("creates-per-minute").pipe(Options.optional),
    redirectsPerDay: Options.integer("redirects-per-day").pipe(Options.optional),
    expiresAt: Options.text("expires-at").pipe(
      Options.optional,
      Options.withDescription("An RFC 3339 date-time")
    )
  },
  Effect.fn(function* ({ email, name, scopes, ...limits }) {
    const accounts = yield* Accounts
    const user = yield* userOf(email)
    const body = yield* orRefuse(
      decodeNewKey({ name, scopes: [...new Set(scopes)], ...Record.getSomes<string, unknown>(limits) })
    )
    if (body.scopes.includes("admin") && !user.isAdmin) {
      return yield* new Refused({ message: `${email} is no administrator.` })
    }
    const { createsPerMinute = null, redirectsPerDay = null } = body
    const expiresAt = body.expiresAt === undefined ? null : Iso8601.parseMoment(body.expiresAt)
    if (expiresAt === undefined) {
      return yield* new Refused({ message: "--expires-at must be such as 2030-01-01T00:00:00Z." })
    }
    const draft = { name, scopes: body.scopes, createsPerMinute, redirectsPerDay, expiresAt }
    const made = yield* accounts.addKey(user.id, draft, doer)
    if (made === "nobody") return yield* new Refused({ message: `${email} is disabled.` })
    if (made === "full") return yield* new Refused({ message: `${email} has ${keysMax} keys already.` })
    yield* Console.log(`Made ${made.key.id} for ${email}, shown this once: ${Redacted.value(made.secret)}`)
  })
).pipe(Command.withDescription("Makes an API key for a user"))

const listKeys = Command.make(
  "list-keys",
  { email },
  Effect.fn(function* ({ email }) {
    const accounts = yield* Accounts
    const user = yield* userOf(email)
    for (const key of yield* accounts.keysOf(user.id)) {
      const end = key.expiresAt === null ? "" : `  until ${Iso8601.formatMoment(key.expiresAt)}`
      yield* Console.log(`${key.id}  ${key.scopes.join(",")}  ${key.name}${end}`)
    }
  })
).pipe(Command.withDescription("Lists a user's API keys"))

const revokeKey = Command.make(
  "revoke-key",
  { id: Options.text("id") },
  Effect.fn(function* ({ id }) {
    const accounts = yield* Accounts
    if (!(yield* accounts.revoke(id, null, doer))) {
      return yield* new Refused({ message: `There is no API key ${id}.` })
    }
    yield* Console.log(`Revoked ${id}`)
  })
).pipe(Command.withDescription("Revokes an API key"))

const links = Command.make(
  "links",
  {
    email: Options.text("email").pipe(Options.optional, Options.withDescription("Of this user alone")),
    limit: Options.integer("limit").pipe(Options.withDefault(50))
  },
  Effect.fn(function* ({ email, limit }) {
    const store = yield* LinkStore
    const owner = Option.isNone(email) ? {} : { owner: (yield* userOf(email.value)).id }
    const { isPartial, links } = yield* store.list({
      ...owner,
      order: "createdAt-desc",
      limit: Math.min(linksMax, Math.max(1, limit)),
      lookedAtMax: linksMax
    })
    for (const link of links) {
      const created = Iso8601.formatMoment(link.createdAt)
      yield* Console.log(`${link.key}  ${created}  ${link.owner ?? "anonymous"}  ${link.url}`)
    }
    if (isPartial === true) {
      yield* Console.error("One of the databases of links does not answer: its links are missing here.")
    }
  })
).pipe(Command.withDescription("Lists the newest links"))

/** Needs the pool and the key file. */
export const ledger = Command.make(
  "ledger",
  {},
  Effect.fn(function* () {
    const pool = yield* KeyPool
    const { bound, minted, quarantined, recorded, ...database } = yield* KeyLedger.read
    const file = yield* Effect.serviceOption(KeyFile)
    const stocked = database.stocked + (Option.isSome(file) ? yield* file.value.size : 0)
    const levels = yield* Effect.forEach(
      Array.from({ length: pool.shards }, (_, shard) => shard),
      pool.level
    )
    const pooled = Numbers.sumAll(levels)
    const rest = minted - stocked - pooled - recorded - bound - quarantined
    const rows = { minted, stocked, pooled, recorded, bound, quarantined, "leased or lost": rest }
    for (const [what, count] of Object.entries(rows)) yield* Console.log(`${what.padEnd(15)}${count}`)
  })
).pipe(Command.withDescription("Tells where all minted keys are, as far as the stores know"))

/** The commands that need only the database, each with the services that it is given: a command that needs none of them must not open it. */
export const commandsWith = <ROut, E, RIn>(services: Layer.Layer<ROut, E, RIn>) => {
  const [users, disable, enable, grant, withdraw, remove, audit] = userCommands
  return [
    Command.provide(addUser, services),
    Command.provide(setPassword, services),
    Command.provide(users, services),
    Command.provide(disable, services),
    Command.provide(enable, services),
    Command.provide(grant, services),
    Command.provide(withdraw, services),
    Command.provide(remove, services),
    Command.provide(audit, services),
    Command.provide(addKey, services),
    Command.provide(listKeys, services),
    Command.provide(revokeKey, services),
    Command.provide(links, services),
    Command.provide(aliasesWithCapitals, services)
  ] as const
}
