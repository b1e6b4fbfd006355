import { Option, Schema } from "effect"
import type { Delivery, Failure } from "../storage/webhooks/WebhookStore.ts"
import type { Message } from "../model/Messages.ts"

/** How long a challenge waits after each failed attempt, in milliseconds; after the last one it is not retried. */
const retriesIn_ms = [10_000, 60_000, 300_000, 1_800_000]

/** Attempts for a challenge: within some 36 minutes. */
export const challengeAttemptsMax = retriesIn_ms.length + 1

const decodeChallenge = Schema.decodeUnknownSync(
  Schema.parseJson(Schema.Struct({ data: Schema.Struct({ challenge: Schema.String }) }))
)

const decodeAnswer = Schema.decodeUnknownOption(Schema.parseJson(Schema.Struct({ challenge: Schema.String })))

/**
 * Whether an answer proves that its receiver wants a webhook's messages: it is exactly the challenge, as text or as `{"challenge":"…"}`. It is not enough to contain it: servers that
 * echo requests know nothing of webhooks.
 */
export const isProof = ({ body }: Pick<Delivery, "body">, answer: string): boolean => {
  const { challenge } = decodeChallenge(body).data
  if (answer.trim() === challenge) return true
  return Option.exists(decodeAnswer(answer), (decoded) => decoded.challenge === challenge)
}

/** What follows a failed attempt at a challenge: a retry after a longer wait each time. */
export const afterFailure = ({ attempt }: Pick<Delivery, "attempt">, reason: Message): Failure => ({
  reason,
  retryIn_ms: retriesIn_ms[attempt - 1] ?? null,
  pause_ms: 0
})
