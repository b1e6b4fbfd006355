import { expect } from "@effect/vitest"
import { Effect } from "effect"
import { type Answer, jsonOf, type NoAnswer } from "./HttpClient.ts"
import { isMessage } from "../samples/KnownMessages.ts"
import { TestService } from "../TestService.ts"

/** The status of each problem that API.md names. */
const statusOf = {
  "invalid-url": 400,
  "invalid-request": 400,
  "alias-reserved": 400,
  "password-required": 401,
  unauthorized: 401,
  "password-change-required": 403,
  "reauthentication-required": 403,
  forbidden: 403,
  "not-found": 404,
  "alias-taken": 409,
  "email-taken": 409,
  "too-many-keys": 409,
  "last-administrator": 409,
  "too-many-webhooks": 409,
  "webhook-ended": 409,
  "webhook-full": 409,
  "domain-taken": 409,
  "too-many-domains": 409,
  "aliases-with-capitals": 409,
  "domain-not-proven": 409,
  "idempotency-in-progress": 409,
  "idempotency-mismatch": 422,
  gone: 410,
  "payload-too-large": 413,
  "uri-too-long": 414,
  "unsupported-media-type": 415,
  "blocked-target": 422,
  "rate-limited": 429,
  unavailable: 503,
  "too-many-streams": 503
} as const

/** The slug of a problem's type. */
export type Kind = keyof typeof statusOf

/** The slug of the type of the problem that an answer is; whatever it says for any other answer. */
export const kindOf = (answer: Answer): Kind =>
  (jsonOf(answer) as { readonly type: string }).type.replace("https://linkmint.dev/problems/", "") as Kind

/** A fault that a problem should list: at this path, with a message like this. */
export type ExpectedFault = readonly [path: string, message: RegExp | string]

/** Checks that an answer is a problem of this kind (RFC 9457), and lists exactly these faults. */
export const expectProblem = (
  answer: Answer,
  kind: Kind,
  faults: ReadonlyArray<ExpectedFault> = []
): void => {
  const status = statusOf[kind]
  expect({ status: answer.status, type: answer.headers["content-type"] }).toEqual({
    status,
    type: "application/problem+json"
  })
  expect(answer.headers["x-request-id"]).toMatch(/^[0-9a-f]{16}$/)
  const problem = jsonOf(answer) as {
    readonly detail: string
    readonly errors?: ReadonlyArray<{ readonly path: string; readonly message: string }>
  }
  const said = problem.errors?.map(({ message }) => message) ?? [problem.detail]
  expect(said.filter((text) => !isMessage(text))).toEqual([])
  expect(problem).toEqual({
    type: `https://linkmint.dev/problems/${kind}`,
    title: expect.stringMatching(/\S/),
    status,
    detail: expect.stringMatching(/\S/),
    ...(faults.length > 0 && {
      errors: faults.map(([path, message]) => ({ path, message: expect.stringMatching(message) }))
    })
  })
}

/** Checks that what is sent is answered with this problem, and that nothing was stored meanwhile. */
export const refuses = (
  sent: Effect.Effect<Answer, NoAnswer, TestService>,
  kind: Kind,
  ...faults: ReadonlyArray<ExpectedFault>
) =>
  Effect.gen(function* () {
    const { stored } = yield* TestService
    const before = yield* stored
    const answer = yield* sent
    expectProblem(answer, kind, faults)
    expect(yield* stored).toBe(before)
    return answer
  })
