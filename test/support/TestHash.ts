import { Layer, Redacted } from "effect"
import * as KeyedHash from "../../src/secrets/KeyedHash.ts"

/** The keyed hashes of services under test. */
export const testHash = KeyedHash.make(Redacted.make("the secret of tests"))

/** See {@link testHash}. */
export const testHashLayer: Layer.Layer<KeyedHash.KeyedHash> = Layer.succeed(KeyedHash.KeyedHash, testHash)
