import { Option, Schema } from "effect"
import type { Delivery, Failure } from "../storage/webhooks/WebhookStore.ts"

/** How long a challenge waits after each attempt that failed, in milliseconds; after the last one it is not tried again. */
const retriesIn_ms = [10_000, 60_000, 300_000, 1_800_000]

/** Attempts for a challenge: within some 36 minutes. */
export const challengeAttemptsMax = retriesIn_ms.length + 1

const decodeChallenge = Schema.decodeUnknownSync(
  Schema.parseJson(Schema.Struct({ data: Schema.Struct({ challenge: Schema.String }) }))
)

const decodeAnswer = Schema.decodeUnknownOption(Schema.parseJson(Schema.Struct({ challenge: Schema.String })))

/**
 * Whether an answer proves that its receiver wants a webhook's messages: it is the challenge alone, as text or as `{"challenge":"…"}`. Not that it has it somewhere: servers that
 * show what they are sent know nothing of webhooks.
 */
export const isProof = ({ body }: Pick<Delivery, "body">, answer: string): boolean => {
  const { challenge } = decodeChallenge(body).data
  if (answer.trim() === challenge) return true
  return Option.exists(decodeAnswer(answer), (decoded) => decoded.challenge === challenge)
}

/** What comes after an attempt at a challenge that failed: the next one, each after a longer time. */
export const afterFailure = ({ attempt }: Pick<Delivery, "attempt">, reason: string): Failure => ({
  reason,
  retryIn_ms: retriesIn_ms[attempt - 1] ?? null,
  pause_ms: 0
})
