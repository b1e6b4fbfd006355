import { createHmac } from "node:crypto"
import { Context, Layer, Redacted } from "effect"

/** The purposes of hashes. Hashes of different purposes cannot be compared. */
export type Purpose = "quota" | "create-body" | "audit-client" | "device" | "variant" | "visitor"

/** The service behind {@link KeyedHash}. */
export interface KeyedHashService {
  /** HMAC-SHA-256 of a text for a purpose: 43 characters of base64url. */
  readonly of: (purpose: Purpose, text: string) => string
}

/**
 * Hashes with a secret of this deployment, so that a value that is easy to guess, such as an address or a password, cannot be found from its hash by trying all candidates without
 * the secret. The secret is the same on all nodes and at every start, until the operator changes it (`HASH_SECRET`).
 */
export class KeyedHash extends Context.Tag("linkmint/KeyedHash")<KeyedHash, KeyedHashService>() {}

/** Hashes with this secret: each purpose has its own key, derived from it. */
export const make = (secret: Redacted.Redacted): KeyedHashService => {
  const keys = new Map<Purpose, Buffer>()
  const keyOf = (purpose: Purpose) => {
    const known = keys.get(purpose)
    if (known !== undefined) return known
    const key = createHmac("sha256", Redacted.value(secret)).update(purpose).digest()
    keys.set(purpose, key)
    return key
  }
  return { of: (purpose, text) => createHmac("sha256", keyOf(purpose)).update(text).digest("base64url") }
}

/** See {@link make}. */
export const layer = (secret: Redacted.Redacted): Layer.Layer<KeyedHash> =>
  Layer.sync(KeyedHash, () => make(secret))
