import { Schema } from "effect"
import { scopes } from "../../accounts/Access.ts"
import { hasLength, newPasswordLengthMin } from "../../accounts/PasswordPolicy.ts"
import { linkFates } from "../../accounts/Users.ts"
import { passwordLengthMax } from "../../accounts/Passwords.ts"
import { parametersOf, queryParameter } from "../exchange/PageRequest.ts"
import { Flag, listOf, Moment, optional, pageOf, plainText, Text, wholeNumber } from "./LinkSchemas.ts"

const emailLengthMax = 254
const nameLengthMax = 100
const createsMax = 1_000_000_000
const redirectsMax = 1_000_000_000_000

/** What HTML calls a valid e-mail address: `type=email` of the HTML Living Standard. */
const emailShape =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/

const Email = Text.pipe(
  Schema.maxLength(emailLengthMax, { message: () => `must have at most ${emailLengthMax} characters` }),
  Schema.pattern(emailShape, { message: () => "must be an e-mail address such as ada@example.com" })
)

const password = (min: number) =>
  Text.pipe(
    Schema.filter((text) => hasLength(text, min), {
      jsonSchema: { minLength: min, maxLength: passwordLengthMax },
      message: () => `must have ${min} to ${passwordLengthMax} characters`
    })
  )

const Name = plainText(nameLengthMax)

const NewPassword = password(newPasswordLengthMin).annotations({
  description: "Not among the most common ones, and not made of the e-mail address or the name"
})

/** A new user. */
export const NewUserBody = Schema.Struct({
  email: Email.annotations({ description: "Unique but for case" }),
  password: NewPassword,
  firstName: optional(Name),
  middleName: optional(Name),
  lastName: optional(Name)
}).annotations({ identifier: "NewUser" })

/** A user as clients see them; times are RFC 3339 in UTC. */
export const UserBody = Schema.Struct({
  id: Schema.String,
  email: Schema.String,
  firstName: Schema.NullOr(Schema.String),
  middleName: Schema.NullOr(Schema.String),
  lastName: Schema.NullOr(Schema.String),
  admin: Schema.Boolean,
  createdAt: Schema.String,
  updatedAt: Schema.String,
  lastLoginAt: Schema.NullOr(Schema.String),
  disabledAt: Schema.NullOr(Schema.String)
}).annotations({ identifier: "User" })

/** Users on a page. */
export const userPageBounds = { max: 500, byDefault: 50 } as const

/** The query parameters of the list of users, for the contract. */
export const UserParameters = Schema.Struct({
  ...parametersOf(userPageBounds),
  email: queryParameter({ type: "string", description: "The user with this address, in whatever case" })
})

/** The query parameters of the deletion of an account, for the contract. */
export const RemovalParameters = Schema.Struct({
  links: queryParameter({
    type: "string",
    enum: linkFates,
    default: "keep",
    description: "Whether the links go on redirecting, or are deleted with their user"
  })
})

/** A page of the list of users, the newest first. */
export const UsersBody = pageOf(UserBody, "Users")

/** What administrators change of an account. */
export const UserChangeBody = Schema.Struct({ disabled: optional(Flag), admin: optional(Flag) }).annotations({
  identifier: "UserChange"
})

/** A sign-up that was taken, whether or not there was an account with this e-mail address before. */
export const SignUpBody = Schema.Struct({ email: Schema.String }).annotations({ identifier: "SignUp" })

/** Who wants to sign in. */
export const LogInBody = Schema.Struct({
  email: plainText(emailLengthMax),
  password: password(1)
}).annotations({
  identifier: "Login"
})

/** A user's new password, in place of the one that is shown with it. */
export const NewPasswordBody = Schema.Struct({
  currentPassword: password(1),
  password: NewPassword,
  revokeKeys: optional(
    Flag.annotations({ description: "Whether the API keys and webhooks end with the old password" })
  )
}).annotations({ identifier: "NewPassword" })

/** A session as its user sees it; `browser` and `os` as the client said them, else `unknown` or `bot`. */
export const SessionBody = Schema.Struct({
  id: Schema.String,
  current: Schema.Boolean.annotations({ description: "Whether it is the one of this request" }),
  browser: Schema.String,
  os: Schema.String,
  createdAt: Schema.String,
  lastUsedAt: Schema.String.annotations({ description: "Up to 5 minutes old" }),
  expiresAt: Schema.String
}).annotations({ identifier: "Session" })

/** The caller's sessions, the newest first: all of them, since there are 20 at most. */
export const SessionsBody = listOf(SessionBody, "Sessions")

/** A quota, and its use: what nodes have leased of it counts as used. */
const QuotaBody = Schema.Struct({
  limit: Schema.Number,
  used: Schema.Number,
  remaining: Schema.Number,
  resetAt: Schema.String
}).annotations({ identifier: "Quota" })

const Scope = Schema.Literal(...scopes)

/** The caller. */
export const MeBody = Schema.Struct({
  ...UserBody.fields,
  scopes: Schema.Array(Scope),
  passwordChangeRequired: Schema.Boolean.annotations({
    description: "Whether sessions may do nothing but change the password"
  }),
  quotas: Schema.Struct({
    createsPerMinute: Schema.NullOr(QuotaBody),
    redirectsPerDay: Schema.NullOr(QuotaBody)
  })
}).annotations({ identifier: "Me" })

/** A new API key. */
export const NewKeyBody = Schema.Struct({
  name: Name,
  scopes: Schema.Array(
    Scope.annotations({ message: () => ({ message: `must be one of ${scopes.join(", ")}`, override: true }) })
  )
    .annotations({ message: () => "must be a list of scopes" })
    .pipe(
      Schema.minItems(1, { message: () => "must name a scope" }),
      Schema.maxItems(scopes.length, { message: () => `may have ${scopes.length} scopes at most` })
    ),
  createsPerMinute: optional(wholeNumber(createsMax)),
  redirectsPerDay: optional(wholeNumber(redirectsMax)),
  expiresAt: optional(Moment)
}).annotations({ identifier: "NewApiKey" })

/** An API key as clients see it. */
export const KeyBody = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  scopes: Schema.Array(Schema.String),
  createsPerMinute: Schema.NullOr(Schema.Number),
  redirectsPerDay: Schema.NullOr(Schema.Number),
  createdAt: Schema.String,
  expiresAt: Schema.NullOr(Schema.String)
}).annotations({ identifier: "ApiKey" })

/** An API key that was just made, with its secret. */
export const MadeKeyBody = Schema.Struct({ ...KeyBody.fields, secret: Schema.String }).annotations({
  identifier: "ApiKeyWithSecret"
})

/** The caller's keys, the oldest first: all of them, since there are 100 at most. */
export const KeysBody = listOf(KeyBody, "ApiKeys")
