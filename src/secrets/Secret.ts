import { hash, randomBytes, timingSafeEqual } from "node:crypto"
import { Effect, Redacted } from "effect"

/** Draws `bytes` bytes from the operating system's cryptographic generator, synchronously: the only randomness that must not be replayable. */
export const drawNow = (bytes: number): Buffer => randomBytes(bytes)

/** See {@link drawNow}. */
export const draw = (bytes: number): Effect.Effect<Buffer> => Effect.sync(() => drawNow(bytes))

/** Draws the secret of an API key. */
export const drawApiKey: Effect.Effect<Redacted.Redacted> = Effect.map(draw(24), (bytes) =>
  Redacted.make(`lm_${bytes.toString("base64url")}`)
)

/** SHA-256 in hexadecimal digits. */
export const digest = (text: string): string => hash("sha256", text)

/** Whether two digests are equal, in constant time. */
export const isSameDigest = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(one), Buffer.from(other))

/** Whether a presented secret has this digest, in constant time. */
export const matches = (presented: Redacted.Redacted, expected: string): boolean =>
  isSameDigest(digest(Redacted.value(presented)), expected)
