import { createHash, randomBytes, timingSafeEqual } from "node:crypto"
import { Effect, Redacted } from "effect"

/** Draws `bytes` bytes from the operating system's cryptographic generator: the one place where chance must not be replayable. */
export const draw = (bytes: number): Effect.Effect<Buffer> => Effect.sync(() => randomBytes(bytes))

/** SHA-256 in hexadecimal digits. */
export const digest = (text: string): string => createHash("sha256").update(text).digest("hex")

/** Whether a presented secret has this digest; takes the same time whatever the two have in common. */
export const matches = (presented: Redacted.Redacted, expected: string): boolean =>
  timingSafeEqual(Buffer.from(digest(Redacted.value(presented))), Buffer.from(expected))
