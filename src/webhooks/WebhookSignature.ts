import { createHmac } from "node:crypto"
import { Effect } from "effect"
import * as Secret from "../secrets/Secret.ts"

/** Bytes of a webhook's secret: as many as HMAC-SHA256 makes. */
const secretBytes = 32

const prefix = "whsec_"

/** Draws a webhook's secret, as the Standard Webhooks specification writes it: `whsec_` and Base64. */
export const drawSecret: Effect.Effect<string> = Effect.map(
  Secret.draw(secretBytes),
  (bytes) => prefix + bytes.toString("base64")
)

/** What is signed by the Standard Webhooks specification (https://www.standardwebhooks.com): `timestamp` is in seconds since the Unix epoch. */
export interface Signed {
  readonly id: string
  readonly timestamp: number
  readonly body: string
}

/** The headers by which a receiver knows a message, and who sent it. */
export const headersOf = ({ body, id, timestamp }: Signed, secret: string): Record<string, string> => {
  const key = Buffer.from(secret.slice(prefix.length), "base64")
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": `v1,${signature}`
  }
}
