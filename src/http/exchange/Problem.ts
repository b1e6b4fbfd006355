import { HttpApiSchema } from "@effect/platform"
import { type Cause, Effect, Either, Schema } from "effect"
import { type Answer, flatten } from "./Answer.ts"
import type { Message } from "../../model/Messages.ts"

/** A fault of one part of the request, for the contract. */
const FaultBody = Schema.Struct({ path: Schema.String, message: Schema.String })

/** A fault of one part of the request: `path` is the field's place in the body, empty for the body as a whole. */
export interface Fault {
  readonly path: string
  readonly message: Message
}

/** A field, and what is wrong with it. */
type OfField = `${string} ${Message}`

/** Every problem that this service answers with: its status and title by the slug of its type. */
const kinds = {
  "invalid-url": { status: 400, title: "The target URL is not acceptable" },
  "invalid-request": { status: 400, title: "The request is not valid" },
  "alias-reserved": { status: 400, title: "The alias is reserved" },
  "password-required": { status: 401, title: "A password is needed" },
  unauthorized: { status: 401, title: "The request needs credentials" },
  "password-change-required": { status: 403, title: "The password must be changed first" },
  "reauthentication-required": { status: 403, title: "The password must be shown again" },
  forbidden: { status: 403, title: "This is not allowed" },
  "not-found": { status: 404, title: "There is no such thing here" },
  "request-timeout": { status: 408, title: "The request took too long to come" },
  "alias-taken": { status: 409, title: "The alias is taken" },
  "email-taken": { status: 409, title: "There is an account with this e-mail address" },
  "too-many-keys": { status: 409, title: "There are too many API keys" },
  "last-administrator": { status: 409, title: "This is the last administrator" },
  "too-many-webhooks": { status: 409, title: "There are too many webhooks" },
  "webhook-ended": { status: 409, title: "The webhook has ended" },
  "webhook-full": { status: 409, title: "Too many events wait for webhooks" },
  "domain-taken": { status: 409, title: "There is a domain with this host" },
  "too-many-domains": { status: 409, title: "There are too many domains" },
  "aliases-with-capitals": { status: 409, title: "The domain has aliases with capital letters" },
  "domain-not-proven": { status: 409, title: "The domain does not show its proof" },
  "idempotency-in-progress": { status: 409, title: "The first request with this key is under way" },
  gone: { status: 410, title: "The link has ended" },
  "payload-too-large": { status: 413, title: "The request body is too large" },
  "uri-too-long": { status: 414, title: "The address is too long" },
  "unsupported-media-type": { status: 415, title: "The request body has another type than it must have" },
  "idempotency-mismatch": { status: 422, title: "The key was used with another request" },
  "blocked-target": { status: 422, title: "Links to this target are not allowed" },
  "rate-limited": { status: 429, title: "There were too many requests" },
  "headers-too-large": { status: 431, title: "The request's headers are too large" },
  internal: { status: 500, title: "Something went wrong here" },
  unavailable: { status: 503, title: "The service cannot answer now" },
  "too-many-streams": { status: 503, title: "There are too many streams of events" }
} as const

/** The slug of a problem's type. */
export type Kind = keyof typeof kinds

const typeBase = "https://linkmint.dev/problems/"

/** A problem's type: a stable identifier, never fetched. */
export const typeOf = (kind: Kind): string => `${typeBase}${kind}`

/** A problem's HTTP status. */
export const statusOf = (kind: Kind): number => kinds[kind].status

/** Whether a text is the type of a problem of this service. */
export const isProblemType = (text: string): boolean => text.startsWith(typeBase)

/** The type of every problem's body. */
export const contentType = "application/problem+json"

/** One kind of problem as RFC 9457 writes it. */
const schemaOf = (kind: Kind) =>
  Schema.Struct({
    type: Schema.Literal(typeOf(kind)),
    title: Schema.String,
    status: Schema.Literal(kinds[kind].status),
    detail: Schema.String,
    errors: Schema.optional(Schema.Array(FaultBody))
  })
    .annotations({
      identifier: `Problem-${kind}`,
      ...HttpApiSchema.annotations({ status: kinds[kind].status })
    })
    .pipe(HttpApiSchema.withEncoding({ kind: "Json", contentType }))

/** The schema of problems of these kinds, for the contract. */
export const schema = (...kinds: ReadonlyArray<Kind>) => Schema.Union(...kinds.map(schemaOf))

/** A problem of one request. */
export interface Problem {
  readonly kind: Kind
  /** What is wrong. */
  readonly detail: Message | OfField
  readonly errors?: ReadonlyArray<Fault>
  /** What the response has beside the headers of its kind. */
  readonly headers?: Readonly<Record<string, string>>
}

/** How long a client should wait before it tries again, in seconds. */
const retryAfter_s = 1

const headersOfKind = (kind: Kind): Record<string, string> => {
  switch (kind) {
    case "unauthorized":
      return { "www-authenticate": `Bearer realm="linkmint"` }
    case "unavailable":
    case "too-many-streams":
      return { "retry-after": String(retryAfter_s) }
    default:
      return {}
  }
}

/** The headers of a problem's answer, however that is written. */
export const headersOf = ({ headers, kind }: Problem): Readonly<Record<string, string>> => ({
  ...headersOfKind(kind),
  ...headers
})

/** A problem of any kind as RFC 9457 writes it. */
export const ProblemBody = Schema.Struct({
  type: Schema.String,
  title: Schema.String,
  status: Schema.Number,
  detail: Schema.String,
  errors: Schema.optional(Schema.Array(FaultBody))
}).annotations({ identifier: "Problem" })

/** Says a problem in JSON (RFC 9457). */
export const bodyOf = ({ detail, errors, kind }: Problem): typeof ProblemBody.Type => ({
  type: typeOf(kind),
  title: kinds[kind].title,
  status: statusOf(kind),
  detail,
  ...(errors !== undefined && { errors })
})

/** The answer that says a problem (RFC 9457). */
export const answer = (problem: Problem): Answer<string> => ({
  status: statusOf(problem.kind),
  headers: flatten({
    "content-type": contentType,
    "cache-control": "no-store",
    ...headersOf(problem)
  }),
  body: JSON.stringify(bodyOf(problem))
})

/** Faults that a problem names at most, and characters of a field's name that it repeats. */
export const faultsMax = 20
const pathLengthMax = 64

const shortened = (fault: Fault): Fault =>
  fault.path.length <= pathLengthMax ? fault : { ...fault, path: `${fault.path.slice(0, pathLengthMax)}…` }

/**
 * Problems of a request whose parts have faults: the detail names the first. Only so many are listed, and only the beginning of long names, so that an answer is never
 * larger than what it answers. `count`: how many there are, where not all of them are given.
 */
export const faulty = (kind: Kind, faults: ReadonlyArray<Fault>, count = faults.length): Problem => {
  const told = faults.slice(0, faultsMax).map(shortened)
  const { message, path } = told[0]!
  const more: ReadonlyArray<Fault> =
    count > told.length ? [{ path: "", message: `and ${count - told.length} more` }] : []
  return { kind, detail: path === "" ? message : `${path} ${message}`, errors: [...told, ...more] }
}

/** A problem that lists only the first of its faults. */
export const withFirstFault = (problem: Problem): Problem => {
  const { errors = [] } = problem
  return errors.length < 2 ? problem : { ...problem, errors: [errors[0]!, { path: "", message: "and more" }] }
}

/** The problem of a request with one fault. */
export const oneFault = (kind: Kind, path: string, message: Message): Either.Either<never, Problem> =>
  Either.left(faulty(kind, [{ path, message }]))

/** What `read` gives, or the problem that names the faults that it finds. */
export const collectFaults = <A>(
  read: (fault: (path: string, message: Message) => void) => A
): Either.Either<A, Problem> => {
  const faults: Array<Fault> = []
  const value = read((path, message) => void faults.push({ path, message }))
  return faults.length > 0 ? Either.left(faulty("invalid-request", faults)) : Either.right(value)
}

/** Refuses a request with a problem. */
export const refuse = (kind: Kind, detail: Message): Either.Either<never, Problem> =>
  Either.left({ kind, detail })

/** The problem of a request that the service cannot answer now; why it cannot stays in the log. */
export const unavailable: Problem = {
  kind: "unavailable",
  detail: "The service cannot answer now. Please try again."
}

/** The problem of a request that was not answered in time. */
export const tooLate = { kind: "unavailable", detail: "The answer took too long." } satisfies Problem

/** The problem of a request that something broke at. */
const broken: Problem = {
  kind: "internal",
  detail: "This is a fault of the service. It has been logged."
}

/** Logs what broke at a request, and gives the problem that says so. */
export const ofBroken = (cause: Cause.Cause<unknown>): Effect.Effect<Problem> =>
  Effect.as(Effect.logError("A request broke", cause), broken)

/** Logs why a client is told to try again. */
export const logUnavailable = (reason: string) => Effect.logWarning(`Answered 503: ${reason}`)

/** Logs why something could not be done, and answers that the client may retry. */
export const orUnavailable = <A, R>(
  self: Effect.Effect<A, { readonly reason: string }, R>
): Effect.Effect<A, Problem, R> =>
  self.pipe(
    Effect.tapError(({ reason }) => logUnavailable(reason)),
    Effect.mapError(() => unavailable)
  )
